import type { VendorCost } from '../media-upstream.js';
import type { ReportedUnits, ServiceTier } from './sold-units.js';
import type { Citation, ToolStep } from './tool-step.js';

/**
 * Why a reply ended. `stop-sequence` carries the sequence in the event; `tool-limit`: the model asked for more of the
 * tools that the gateway runs than a request may have.
 */
export type FinishReason = 'stop' | 'stop-sequence' | 'length' | 'tool-calls' | 'content-filter' | 'tool-limit';

/**
 * Where the numbers come from: the upstream's own bill; our tokenizer because the upstream gave none; or the most there may
 * be, because the caller left before the upstream reported it, or because it reported more than that.
 */
export type UsageSource = 'upstream' | 'counted' | 'held';

/** Tokens of one exchange. Totals include their parts: `inputTokens` holds cached and image tokens, `outputTokens` reasoning. */
export interface TextUsage {
  readonly inputTokens: number;
  /** Read from a cache, at the cached price. */
  readonly cachedInputTokens: number;
  /** Written to a cache, where the vendor charges for it. */
  readonly cacheWriteTokens: number;
  readonly imageInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly source: UsageSource;
  /** Only of what an upstream reports, and only what is not 0. */
  readonly units?: ReportedUnits;
  /** Of a reply that took several requests to its vendor: what each of them used, each at the prices of its own input. All else is their sum. */
  readonly calls?: readonly TextUsage[];
  /** The tier that served it, where the upstream says so; `other`: one that is not known here. */
  readonly tier?: ServiceTier | 'other';
  /** What the vendor says that it took; never shown to a customer. */
  readonly charge?: VendorCharge;
}

/** What nothing used, as far as we count. */
export const NO_USAGE: TextUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  imageInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  source: 'counted',
};

/** Each call of a model that a reply took, of which a request to a vendor may hold several. */
export const callsOf = (usage: TextUsage): readonly TextUsage[] => usage.calls?.flatMap(callsOf) ?? [usage];

/** The fields in which vendors say what a reply cost, as they came: read only where an operator says that they mean money. */
export interface VendorCharge {
  readonly cost?: unknown;
  readonly isByok?: unknown;
  readonly upstreamCost?: unknown;
  readonly ticks?: unknown;
}

/** What a text request cost the operator, beside its price. */
export interface TextCost extends VendorCost {
  /** True: as the vendor said it in its reply; false: by the figures of the upstream's entry. */
  readonly isReported: boolean;
}

/**
 * One step of a reply. A block (text, refusal, reasoning, call) lasts until the next event of another kind or a `break`; a call opens with
 * `call` and grows with `arguments`; no piece is empty; `finish` comes once and last. A failure is a thrown GatewayError, never an event.
 */
export type TextEvent =
  /** The start of the reply, with the input tokens if the upstream reports them already. */
  | { readonly type: 'start'; readonly inputTokens?: number }
  | { readonly type: 'text'; readonly text: string }
  /** What comes next belongs to a block of its own, also where it is of the kind that is open. */
  | { readonly type: 'break' }
  /** Words with which the model declines, where the vendor marks them as such. */
  | { readonly type: 'refusal'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** The vendor's proof. It closes an open reasoning block; with none open it is sealed reasoning, a block of its own. */
  | { readonly type: 'signature'; readonly signature: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string }
  /** A piece of the JSON text of the open call's arguments. */
  | { readonly type: 'arguments'; readonly json: string }
  /** Work that the gateway begins between two words of the model, and the same again when it is over. A block of its own. */
  | { readonly type: 'step'; readonly state: 'begun' | 'done'; readonly step: ToolStep }
  /** A citation of the open text. */
  | { readonly type: 'citation'; readonly citation: Citation }
  | {
      readonly type: 'finish';
      readonly reason: FinishReason;
      readonly stopSequence?: string;
      /** Absent when the upstream gave no usage. */
      readonly usage?: TextUsage;
    };

export type FinishEvent = Extract<TextEvent, { type: 'finish' }>;

/** A finished block of a reply; sealed reasoning has a signature and no text. `arguments` is the text of a JSON object. */
export type ReplyBlock =
  | {
      readonly type: 'text' | 'refusal';
      readonly text: string;
      readonly citations?: readonly Citation[];
      /** It begins anew, whatever is in front of it. */
      readonly isApart?: true;
    }
  | { readonly type: 'reasoning'; readonly text: string; readonly signature?: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly arguments: string }
  | { readonly type: 'step'; readonly step: ToolStep };

/** A whole reply: what the events of a stream add up to. */
export interface CollectedReply {
  readonly blocks: readonly ReplyBlock[];
  readonly finish: FinishEvent;
}

/** What an event adds to the text that is counted when the upstream reports no usage: words, thoughts, arguments of calls. */
export function eventText(event: TextEvent): string {
  if (event.type === 'text' || event.type === 'reasoning' || event.type === 'refusal') return event.text;
  return event.type === 'arguments' ? event.json : '';
}
