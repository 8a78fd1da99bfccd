import type { JsonObject } from '#contracts';
import type { ReserveMemory } from '../limits/reserve-memory.js';
import type { TextStyleCodec } from './text-style-codec.js';

/** A checked request of one style. */
export interface TextOrder<Body> {
  readonly requestId: string;
  /** Of a request that may be repeated. */
  readonly idempotencyKey?: string | undefined;
  readonly caller: {
    readonly accountId: string;
    readonly apiKeyId: string;
    /** Empty: every model is allowed. */
    readonly allowedModels: readonly string[];
    /** What the key is limited to (`KEY_SCOPES`); empty: everything. */
    readonly scopes: readonly string[];
  };
  readonly codec: TextStyleCodec<Body>;
  readonly model: string;
  /** What an upstream gets: references resolved. */
  readonly body: Body;
  /** What the caller sent, which styles say back. */
  readonly sentBody: Body;
  /** The caller's own bytes; undefined when `body` is not what they say. */
  readonly bytes: Uint8Array | undefined;
  /** Headers for an upstream of the same style. */
  readonly headers: Readonly<Record<string, string>>;
  /** Memory for what the request makes the gateway read. */
  readonly reserve: ReserveMemory;
  /** Called before the answer begins with the offered tools that were not sent to the upstream. */
  readonly onToolsLeftOut?: (names: readonly string[]) => void;
  /** Called with the finished native answer of a style that can be referred to, also as JSON where it is at hand; the end of a stream waits for it. */
  readonly remember?: (answer: JsonObject, json?: string) => Promise<void>;
}
