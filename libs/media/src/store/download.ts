import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs, contentRange, FetchFailed, RemoteStatus, type SafeAnswer, type SafeFetcher } from '#platform';

/** What a download needs. */
export interface DownloadOptions {
  readonly fetcher: SafeFetcher;
  readonly url: string;
  /** When it must be over, in milliseconds of the epoch. */
  readonly deadline: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** What its own host wants to see; see `SafeGetOptions`. */
  readonly credentials?: Readonly<Record<string, string>> | undefined;
  /** Whose file it is; see `SafeGetOptions`. */
  readonly accountId?: string | undefined;
}

/** How often one download is continued after a cut, and the pause before each. */
const MAX_RESUMES = 3;
const RESUME_PAUSE = { firstMs: 200, longestMs: 800 };

/**
 * A remote file that arrives in one stream although connections may break: it is continued by Range, guarded by If-Range,
 * so that the parts always belong to the same file.
 */
export class Download {
  private received = 0;

  private constructor(
    private readonly options: DownloadOptions,
    private answer: SafeAnswer,
  ) {}

  /** @throws RemoteStatus when the answer is not 200; FetchRefused; FetchFailed. */
  static async open(options: DownloadOptions): Promise<Download> {
    const answer = await ask(options, {});
    if (answer.status === 200) return new Download(options, answer);
    answer.body.destroy();
    throw new RemoteStatus(answer.status);
  }

  /** Length that the host announced; nothing when it did not. */
  get size(): number | undefined {
    const announced = this.answer.headers['content-length'];
    return announced === undefined ? undefined : Number(announced);
  }

  /** The bytes of the file, once. */
  async *chunks(): AsyncGenerator<Buffer> {
    const { size } = this;
    for (let resumes = 0; ; resumes += 1) {
      try {
        for await (const chunk of this.answer.body as AsyncIterable<Buffer>) {
          this.received += chunk.length;
          yield chunk;
        }
        return;
      } catch (error) {
        if (!(error instanceof FetchFailed) || resumes === MAX_RESUMES) throw error;
        await this.resume(size, error, backoffMs(RESUME_PAUSE, resumes));
      }
    }
  }

  /** Ends the connection, if it is still open. */
  close(): void {
    this.answer.body.destroy();
  }

  /** Opens the rest of the file. @throws the failure that cut it, when the host cannot prove that it is the same file. */
  private async resume(size: number | undefined, cut: FetchFailed, pauseMs: number): Promise<void> {
    const validator = strongValidator(this.answer);
    if (validator === undefined || size === undefined) throw cut;
    await sleep(pauseMs);
    const rest = await ask(this.options, { range: `bytes=${this.received}-`, 'if-range': validator });
    const range = contentRange(rest);
    if (rest.status !== 206 || range?.start !== this.received || range.size !== size) {
      rest.body.destroy();
      throw cut;
    }
    this.answer = rest;
  }
}

function ask(
  { fetcher, url, deadline, maxBytes, signal, credentials, accountId }: DownloadOptions,
  headers: Record<string, string>,
) {
  return fetcher.get(url, {
    headers,
    maxBytes,
    signal,
    credentials,
    accountId,
    timeoutMs: Math.max(1, deadline - performance.now()),
  });
}

/** What If-Range may name: an ETag that is not weak. */
function strongValidator({ headers }: SafeAnswer): string | undefined {
  const etag = headers.etag;
  return typeof etag === 'string' && !etag.startsWith('W/') ? etag : undefined;
}
