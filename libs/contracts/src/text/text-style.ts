/** The request styles: each named after the interface each follows. */
export const TEXT_STYLES = ['responses', 'gemini', 'messages', 'chat'] as const;
export type TextStyle = (typeof TEXT_STYLES)[number];

/**
 * What an upstream speaks. A request of the same style passes through byte for byte; `sandbox` is the built-in writer, the
 * others are the styles themselves.
 */
export const TEXT_PROTOCOLS = [...TEXT_STYLES, 'sandbox'] as const;
export type TextProtocol = (typeof TEXT_PROTOCOLS)[number];

/**
 * Stands behind the protocol in a proof that holds the reasoning itself, where a vendor tells that from a proof beside words,
 * of which there may be none as well: each goes back in the form in which it came.
 */
export const REDACTED = 'redacted:';

/**
 * Ends work whose result is not waited for any more: what of an `AbortSignal` the path of a text request needs. An `AbortSignal` is
 * one; making, watching and leaving a new one costs some 10 µs in Node 20, which a whole reply can do without.
 */
export interface StopSignal {
  readonly aborted: boolean;
  /** Why it aborted; undefined until then. */
  readonly reason: unknown;
  /** @throws its reason when it has aborted. */
  throwIfAborted(): void;
  /** Calls `listener` once, when it aborts; never when it has aborted already. */
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
