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

/** A file would need more memory than there is for it. */
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
