/** Something took longer than it was given. */
export class TimeoutError extends Error {
  constructor(limitMs: number) {
    super(`no answer within ${limitMs} ms`);
    this.name = 'TimeoutError';
  }
}

/** The result, unless it takes longer than `limitMs`; for work that takes no signal. @throws TimeoutError */
export async function within<Result>(result: Promise<Result>, limitMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TimeoutError(limitMs)), limitMs);
  });
  return Promise.race([result, timeout]).finally(() => clearTimeout(timer));
}
