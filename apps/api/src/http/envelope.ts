/** What almost every JSON answer of ours is wrapped in: `code` beside `data`. */
export interface Envelope<Data> {
  readonly code: number;
  readonly data: Data;
}

/** Puts an answer into the envelope. `code` is its HTTP status. */
export const envelope = <Data>(data: Data, code = 200): Envelope<Data> => ({ code, data });

/** An answer whose fields stand beside `code`, without `data`: what can be read back in as it is. */
export const withCode = <Fields extends object>(fields: Fields): Fields & { readonly code: number } => ({
  code: 200,
  ...fields,
});

/** `data`, and fields that stand beside it in the envelope: `after` it, and `before` it behind `code`. */
export class DataWith<Data> {
  constructor(
    readonly data: Data,
    readonly after: object,
    readonly before: object = {},
  ) {}

  enveloped(code: number): Envelope<Data> {
    return { code, ...this.before, data: this.data, ...this.after };
  }
}
