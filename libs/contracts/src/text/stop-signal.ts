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
