import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { abortAfter } from '#platform';
import type { FileToPrepare, Prepared } from './extract/prepare-file.js';

/** The longest that the content of one file is worked on, in milliseconds. */
const PREPARE_MS = 60_000;

/** The most memory for what a thread makes of a file, in MiB; a file that takes more ends its thread and nothing else. */
const HEAP_MB = 512;

const IDLE_THREAD_MS = 10_000;

const IS_SOURCE = import.meta.url.endsWith('.ts');
const ENTRY = new URL(IS_SOURCE ? './extract/prepare-file.ts' : './extract/prepare-file.js', import.meta.url);
/** What a thread needs to load TypeScript, where this runs as such. */
const LOADER = ['--import', new URL('../../../../scripts/typescript.mjs', import.meta.url).href];

/** The bounds of a thread. */
export interface PreparerBounds {
  readonly timeMs?: number;
  readonly heapMb?: number;
}

/**
 * Reads files in a thread that starts when it is needed and keeps no process alive. One that takes too long or too much
 * is ended, and the file with it.
 */
export class FilePreparer {
  readonly #threads: Piscina<FileToPrepare, Prepared>;
  readonly #timeMs: number;

  constructor({ timeMs = PREPARE_MS, heapMb = HEAP_MB }: PreparerBounds = {}) {
    this.#timeMs = timeMs;
    this.#threads = new Piscina({
      filename: fileURLToPath(ENTRY),
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_THREAD_MS,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      ...(IS_SOURCE && { execArgv: LOADER }),
    });
  }

  /** @throws the reason of `signal` when it aborts. */
  async prepare(file: FileToPrepare, signal: AbortSignal): Promise<Prepared> {
    try {
      return await this.#threads.run(file, { signal: abortAfter(this.#timeMs, signal) });
    } catch (error) {
      signal.throwIfAborted();
      if (isAborted(error)) return tooHard(`could not be read within ${this.#timeMs / 1000} s`);
      if (isOutOfMemory(error)) return tooHard('takes more memory to read than there is for it');
      throw error;
    }
  }

  /** Ends the thread at once. */
  async close(): Promise<void> {
    await this.#threads.destroy();
  }
}

const tooHard = (why: string): Prepared => ({
  kind: 'unreadable',
  code: 'invalid_file',
  message: `The file ${why}: split it, or make it simpler.`,
});

const isAborted = (error: unknown): boolean =>
  error instanceof Error && ['AbortError', 'TimeoutError'].includes(error.name);
const isOutOfMemory = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
