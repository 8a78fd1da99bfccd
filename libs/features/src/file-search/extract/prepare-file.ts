import { countWords, type WordCounts } from './count-words.js';
import { cutPassages, type PassageSizes } from './cut-passages.js';
import { type IndexErrorCode, NO_MEMORY, tooHard, Unreadable } from './extracted-text.js';
import { readText } from './read-text.js';

/** Constructors of arrays whose bytes lie outside the heap, where no limit of a thread's heap counts them. */
const ARRAYS = [
  'ArrayBuffer',
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float32Array',
  'Float64Array',
] as const;

type ArrayConstructor = new (...given: unknown[]) => object;

/** How much may be made between two measurements, in bytes. */
const UNMEASURED_BYTES = 4 * 1024 * 1024;

const bounds = { bytes: Infinity, unmeasured: 0, isBroken: false, inForce: false };

class MemoryExceeded extends Error {}

/**
 * Bounds the memory that a reader of files may take for arrays, in this thread and from now on: a reader of PDFs unpacks
 * streams into them, as often as a stream says, and a file of one kilobyte can ask for gigabytes.
 *
 * @param bytes the most that may be in use at once; what was in use before counts.
 */
export function boundArrays(bytes: number): void {
  Object.assign(bounds, { bytes, unmeasured: 0, isBroken: false });
  if (bounds.inForce) return;
  bounds.inForce = true;
  for (const name of ARRAYS) bound(name);
  Object.defineProperty(globalThis, 'DecompressionStream', { value: boundedUnpacking(globalThis.DecompressionStream) });
}

/** Whether an array was refused since the last call of {@link boundArrays}. Readers may go on without what they could not unpack. */
export const exceededMemory = (): boolean => bounds.isBroken;

function bound(name: (typeof ARRAYS)[number]): void {
  const original = globalThis[name] as unknown as ArrayConstructor;
  const bounded: ArrayConstructor = new Proxy(original, {
    construct(target, given, newTarget) {
      if (typeof given[0] === 'number') expectRoom(given[0]);
      return Reflect.construct(target, given, newTarget === bounded ? target : newTarget) as object;
    },
  });
  Object.defineProperty(globalThis, name, { value: bounded, writable: true, configurable: true });
}

/** It makes its arrays on its own, past these constructors: they are measured as they come out. */
const boundedUnpacking = (original: typeof DecompressionStream): typeof DecompressionStream =>
  new Proxy(original, {
    construct(target, given: ConstructorParameters<typeof DecompressionStream>) {
      const { readable, writable } = new target(...given);
      const measured = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(piece, onward) {
          expectRoom(piece.byteLength);
          onward.enqueue(piece);
        },
      });
      return { readable: readable.pipeThrough(measured), writable };
    },
  });

/** An array has at least as many bytes as entries: what is larger by its entries shows in the next measurement. */
function expectRoom(size: number): void {
  bounds.unmeasured += size;
  if (bounds.unmeasured < UNMEASURED_BYTES) return;
  bounds.unmeasured = 0;
  if (process.memoryUsage().arrayBuffers + size <= bounds.bytes) return;
  bounds.isBroken = true;
  throw new MemoryExceeded();
}

export interface FileToPrepare {
  readonly bytes: Uint8Array;
  readonly filename: string;
  readonly sizes: PassageSizes;
  /** The most bytes of arrays that the thread may hold at once, beside its heap. */
  readonly arrayBytes: number;
}

export interface PreparedPassage {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** From 1; null where files of its type have no pages. */
  readonly page: number | null;
}

/** The text of a file, or why it has none. */
export type Prepared =
  | { readonly kind: 'passages'; readonly passages: readonly PreparedPassage[]; readonly words: WordCounts }
  | {
      readonly kind: 'unreadable';
      readonly code: IndexErrorCode;
      readonly message: string;
      /** Whether it was ended by the bounds of its thread: with others it might be read. */
      readonly byBounds: boolean;
    };

/** Answers once the thread has started, which is no file's fault. */
export const ready = (): void => undefined;

/** All that is done with the content of a file; runs in a thread of its own. */
export default async function prepareFile({ bytes, filename, sizes, arrayBytes }: FileToPrepare): Promise<Prepared> {
  boundArrays(arrayBytes);
  try {
    const { text, pageStarts } = await readText(bytes, filename);
    if (exceededMemory()) throw tooHard(NO_MEMORY);
    const passages = cutPassages(text, sizes).map(({ start, end }) => ({
      text: text.slice(start, end),
      start,
      end,
      page: pageStarts ? pageAt(pageStarts, start) : null,
    }));
    return { kind: 'passages', passages, words: countWords(passages.map((passage) => passage.text)) };
  } catch (caught) {
    const byBounds = exceededMemory();
    const error = byBounds ? tooHard(NO_MEMORY) : caught;
    if (!(error instanceof Unreadable)) throw error;
    return { kind: 'unreadable', code: error.code, message: error.message, byBounds };
  }
}

/** The last page that begins at or before the place. */
function pageAt(pageStarts: readonly number[], place: number): number {
  let [low, high] = [0, pageStarts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pageStarts[middle] ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return Math.max(1, low);
}
