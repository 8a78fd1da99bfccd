/** A consumer that throws instead of accepting an item has seen enough: the source is closed. */
async function isReady<T>(source: AsyncIterableIterator<T>, item: T, ready: (item: T) => boolean): Promise<boolean> {
  try {
    return ready(item);
  } catch (error) {
    await source.return?.();
    throw error;
  }
}

/**
 * Waits until `ready` accepts an item, so that what fails earlier fails here, and gives back the whole sequence from
 * its beginning. Leaving the sequence early closes its source.
 */
export async function primed<T>(
  source: AsyncIterableIterator<T>,
  ready: (item: T) => boolean,
): Promise<AsyncIterable<T>> {
  const first: T[] = [];
  for (;;) {
    const step = await source.next();
    if (step.done) break;
    first.push(step.value);
    if (await isReady(source, step.value, ready)) break;
  }
  const iterator: AsyncIterator<T> = {
    next: () => {
      const value = first.shift();
      return value === undefined ? source.next() : Promise.resolve({ done: false, value });
    },
    return: () => source.return?.() ?? Promise.resolve({ done: true, value: undefined }),
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
