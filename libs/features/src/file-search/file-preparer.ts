import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { abortAfter } from '#platform';
import type { FileToPrepare, Prepared } from './extract/prepare-file.js';
import { NO_MEMORY, tooHard } from './extract/extracted-text.js';

/** The bounds of a thread; a file that takes more ends with its thread, and nothing else does. */
export interface PreparerBounds {
  /** The longest that the content of one file is worked on, in milliseconds. */
  readonly timeMs: number;
  /** The most memory for what a thread makes of a file, in MiB. */
  readonly heapMb: number;
  /** The most memory for arrays beside it, in MiB. */
  readonly arraysMb: number;
}

export const FULL_BOUNDS: PreparerBounds = { timeMs: 60_000, heapMb: 512, arraysMb: 512 };

/** What nearly every file does with. */
export const QUICK_BOUNDS: PreparerBounds = { timeMs: 5_000, heapMb: 256, arraysMb: 256 };

const IDLE_THREAD_MS = 10_000;

/** Requests come first where processors are few. Elsewhere than on Linux it is the whole process that would give way. */
const NICENESS = process.platform === 'linux' ? 10 : 0;

const IS_SOURCE = import.meta.url.endsWith('.ts');
const ENTRY = new URL(IS_SOURCE ? './extract/prepare-file.ts' : './extract/prepare-file.js', import.meta.url);
/** What a thread needs to load TypeScript, where this runs as such. */
const LOADER = ['--import', new URL('../../../../scripts/typescript.mjs', import.meta.url).href];

/** A file as callers hand it over. */
type File = Omit<FileToPrepare, 'arrayBytes'>;

/**
 * Reads files in a thread that starts when it is needed and keeps no process alive. One that takes too long or too much
 * is ended, and the file with it.
 */
export class FilePreparer {
  private readonly threads: Piscina<FileToPrepare | undefined, Prepared>;
  private readonly timeMs: number;
  private readonly arrayBytes: number;

  constructor({ timeMs, heapMb, arraysMb }: PreparerBounds) {
    this.timeMs = timeMs;
    this.arrayBytes = arraysMb * 1024 * 1024;
    this.threads = new Piscina({
      filename: fileURLToPath(ENTRY),
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_THREAD_MS,
      niceIncrement: NICENESS,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      ...(IS_SOURCE && { execArgv: LOADER }),
    });
  }

  /** @throws the reason of `signal` when it aborts. */
  async prepare(file: File, signal: AbortSignal): Promise<Prepared> {
    try {
      const bounded = { ...file, arrayBytes: this.arrayBytes };
      await this.threads.run(undefined, { name: 'ready', signal });
      return await this.threads.run(bounded, { signal: abortAfter(this.timeMs, signal) });
    } catch (error) {
      signal.throwIfAborted();
      if (isAborted(error)) return unread(`could not be read within ${this.timeMs / 1000} s`);
      if (isOutOfMemory(error)) return unread(NO_MEMORY);
      throw error;
    }
  }

  /** Ends the thread at once. */
  async close(): Promise<void> {
    await this.threads.destroy();
  }
}

function unread(why: string): Prepared {
  const { code, message } = tooHard(why);
  return { kind: 'unreadable', code, message, byBounds: true };
}

const isAborted = (error: unknown): boolean =>
  error instanceof Error && ['AbortError', 'TimeoutError'].includes(error.name);
const isOutOfMemory = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
