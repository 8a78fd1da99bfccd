import type { Readable } from 'node:stream';
import type { Operation, ProviderOutput, ResultLink, ResultSpool, VendorCall } from '#contracts';
import type { Credentials } from './credentials.js';
import type { InlineFiles } from './inline-files.js';
import type { MediaCodec } from './media-codec.js';

/** A file that was not ordered is read to its end, so that the rest of the reply is read, and is not kept. */
async function dropped(bytes: Readable): Promise<string> {
  for await (const _chunk of bytes) continue;
  return '';
}

/** Finished files that are not everybody's to fetch: in replies, or behind the vendor's credentials. */
export class VendorFiles {
  /** Present for protocols whose outputs need the credentials. */
  readonly open?: (output: ProviderOutput, call: Pick<VendorCall, 'signal'>) => Promise<ResultLink>;
  private keeping: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly codec: MediaCodec,
    private readonly credentials: Credentials,
    /** Of the vendor's API. */
    private readonly origin: string,
  ) {
    if (codec.fileAddress) this.open = (output, { signal }) => this.linkOf(output, signal);
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

  /** Whatever address a reply names, the credentials are for those that the protocol keeps files at. */
  private async linkOf({ url }: ProviderOutput, signal: AbortSignal): Promise<ResultLink> {
    const address = this.codec.fileAddress?.(url, this.origin);
    return address === undefined ? { url } : { url: address, credentials: await this.credentials.headers(signal) };
  }
}
