import type { ConsoleFailure } from '#contracts';
import type { ConsoleProblem } from './types';

/** The user closed the dialog without confirming their identity. */
export class ProofRefused extends Error {
  override readonly name = 'ProofRefused';
}

/** Why a call failed: what the server refused, or that it did not answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  private constructor(
    /** The code of the server; `unreachable` without a response, `unreadable` with one that is not from the console's server. */
    readonly code: string,
    message: string,
    readonly status: number | null,
    readonly field: string | null,
    readonly problems: readonly ConsoleProblem[],
    readonly requestId: string | null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  static of(response: Response, error: ConsoleFailure['error'] | null): ApiError {
    const requestId = error?.request_id ?? response.headers.get('x-request-id');
    if (!error) return new ApiError('unreadable', `HTTP ${response.status}`, response.status, null, [], requestId);
    return new ApiError(error.code, error.message, response.status, error.field, error.problems ?? [], requestId);
  }

  /** A failure that a response reports after it began well. */
  static reported({ code, message }: { readonly code: string; readonly message: string }): ApiError {
    return new ApiError(code, message, 200, null, [], null);
  }

  static unreachable(cause: unknown): ApiError {
    return new ApiError('unreachable', 'The gateway did not answer.', null, null, [], null, { cause });
  }

  /** What the server says of a field, by its name in the body. */
  about(field: string): string | undefined {
    const named = this.problems.find((problem) => problem.field === field);
    return named?.message ?? (this.field === field ? this.message : undefined);
  }
}
