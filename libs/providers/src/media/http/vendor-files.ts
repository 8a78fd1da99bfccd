import { Readable } from 'node:stream';
import { type Operation, type ProviderOutput, type ResultSpool, type VendorCall } from '#contracts';
import { RemoteStatus, type SafeFetcher } from '#platform';
import type { Credentials } from './credentials.js';
import type { InlineFiles } from './inline-files.js';
import type { MediaCodec } from './media-codec.js';

/** The longest download, in milliseconds; its caller bounds it further. */
const DOWNLOAD_MS = 30 * 60_000;

/** A file that was not ordered is read to its end, so that the rest of the reply is read, and is not kept. */
async function dropped(bytes: Readable): Promise<string> {
  for await (const _chunk of bytes) continue;
  return '';
}

/** Finished files that are no links: in replies, or in a store that wants the vendor's credentials. */
export class VendorFiles {
  /** Present for protocols whose outputs need the credentials. */
  readonly open?: (output: ProviderOutput, call: Pick<VendorCall, 'signal'>) => Promise<Readable>;
  private keeping: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly codec: MediaCodec,
    private readonly credentials: Credentials,
    private readonly fetcher: SafeFetcher,
  ) {
    if (codec.fileAddress) this.open = (output, { signal }) => this.download(output, signal);
  }

  /** Handles the files in the reply to one check: one file at a time, whichever check it belongs to. */
  inlineFiles(spool: ResultSpool, operation: Operation): InlineFiles | undefined {
    const { inlineFiles } = this.codec;
    if (inlineFiles === undefined) return undefined;
    const ordered = inlineFiles.count(operation);
    let ordinal = 0;
    return {
      field: inlineFiles.field,
      keep: (bytes) => {
        const place = ordinal;
        ordinal += 1;
        if (place >= ordered) return dropped(bytes);
        const kept = this.keeping.then(() => spool.keep(place, bytes));
        this.keeping = kept.catch(() => undefined);
        return kept;
      },
    };
  }

  private async download({ url }: ProviderOutput, signal: AbortSignal): Promise<Readable> {
    const address = this.codec.fileAddress?.(url);
    if (address === undefined) throw new RemoteStatus(404);
    const headers = await this.credentials.headers(signal);
    const limits = { timeoutMs: DOWNLOAD_MS, maxBytes: Number.MAX_SAFE_INTEGER, signal };
    const { status, body } = await this.fetcher.get(address, { ...limits, headers });
    if (status === 200) return body;
    body.destroy();
    throw new RemoteStatus(status);
  }
}
