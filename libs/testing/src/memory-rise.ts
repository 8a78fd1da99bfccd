import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const WATCH_EVERY_MS = 5;

/** What was found of the memory of this process. */
interface MemoryRise<T> {
  readonly result: T;
  /** How far it rose above what it was before, in bytes. */
  readonly bytes: number;
}

/**
 * Watches the memory of this process, heap and buffers, while `work` runs. Where more than `allowed` bytes were added, garbage
 * is collected, and only what is held then counts: how much of it waits to be collected depends on the version of Node.
 */
export async function memoryRise<T>(allowed: number, work: () => T | Promise<T>): Promise<MemoryRise<T>> {
  collectGarbage();
  const before = memoryInUse();
  let bytes = 0;
  const look = (): void => {
    let rise = memoryInUse() - before;
    if (rise > allowed) {
      collectGarbage();
      rise = memoryInUse() - before;
    }
    bytes = Math.max(bytes, rise);
    // Collecting ever again would only slow down what has failed.
    if (bytes > allowed) clearInterval(watch);
  };
  const watch = setInterval(look, WATCH_EVERY_MS);
  try {
    const result = await work();
    look();
    return { result, bytes };
  } finally {
    clearInterval(watch);
  }
}

function memoryInUse(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
