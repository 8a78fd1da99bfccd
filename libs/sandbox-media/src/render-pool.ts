import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import render from './render.js';
import type { RenderRequest } from './render-request.js';

/** Two threads at most, and one processor stays free for the event loop where there is more than one. */
const MAX_THREADS = Math.max(1, Math.min(2, availableParallelism() - 1));
const IDLE_THREAD_MS = 10_000;

/**
 * What the threads run. Node 20 cannot load TypeScript into a thread, so when this file itself runs as TypeScript (under
 * Jest) there is no such file and rendering happens in the calling thread.
 */
const COMPILED_ENTRY = import.meta.url.endsWith('.ts') ? null : new URL('./render.js', import.meta.url);

/**
 * Renders files outside the event loop: on one or two threads that start when they are needed, end after ten idle seconds,
 * and do not keep the process alive.
 */
export class RenderPool {
  private readonly threads: Piscina<RenderRequest, Uint8Array> | null;

  /** @param entry compiled `render` module for the threads; null renders in the calling thread. */
  constructor(entry: URL | null = COMPILED_ENTRY) {
    this.threads =
      entry &&
      new Piscina({
        filename: fileURLToPath(entry),
        minThreads: 0,
        maxThreads: MAX_THREADS,
        idleTimeout: IDLE_THREAD_MS,
      });
  }

  /** @throws an AbortError when the signal is aborted before the file is done, or what `render` throws. */
  async render(request: RenderRequest, signal: AbortSignal): Promise<Uint8Array> {
    signal.throwIfAborted();
    return this.threads ? this.threads.run(request, { signal }) : render(request);
  }

  /** Ends the threads at once. */
  async close(): Promise<void> {
    await this.threads?.destroy();
  }
}
