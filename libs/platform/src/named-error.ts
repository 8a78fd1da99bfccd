/** An error under the name of its class, by which logs tell one from another. */
export class NamedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The same with the reason in a word, for code that decides by it. */
export class CodedError<Code extends string> extends NamedError {
  constructor(
    readonly code: Code,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
