/** How long a test waits for what must happen, in milliseconds. */
const LIMIT_MS = 20_000;

/** The first thing that `find` finds. @throws Error naming `what` when there is none in time. */
export async function waitUntil<T>(
  what: string,
  find: () => Promise<T | undefined> | T | undefined,
  limitMs = LIMIT_MS,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  while (Date.now() < deadline) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`${what}: not within ${limitMs} ms`);
}
