import { buffer } from 'node:stream/consumers';
import { type MeasuredReference, MediaFailure, type ReferenceFile, type ReferenceFiles } from '#contracts';
import { decodedBase64, isDataUri } from '#media';
import { RemoteStatus, type SafeFetcher } from '#platform';

/** The longest download of one referenced file, in milliseconds. */
const DOWNLOAD_MS = 60_000;

/** The files of one order, each read at most once, and no more of it than was checked. */
export function referenceFiles(
  references: readonly MeasuredReference[],
  { fetcher, accountId, signal }: { fetcher: SafeFetcher; accountId: string; signal: AbortSignal },
): ReferenceFiles {
  const files = new Map<string, ReferenceFile>();
  const open = (reference: MeasuredReference): ReferenceFile => {
    const { source } = reference;
    let bytes: Promise<Buffer> | undefined;
    return {
      reference,
      url: () => {
        if (!isDataUri(source)) return Promise.resolve(source);
        return Promise.reject(new MediaFailure('unsupported', 'not_possible', { reference: reference.param }));
      },
      bytes: () => (bytes ??= isDataUri(source) ? dataOf(source) : download(reference)),
    };
  };
  const download = async ({ source: url, bytes: maxBytes }: MeasuredReference): Promise<Buffer> => {
    const { status, body } = await fetcher.get(url, { timeoutMs: DOWNLOAD_MS, maxBytes, accountId, signal });
    if (status === 200) return buffer(body);
    body.destroy();
    throw new RemoteStatus(status);
  };
  return {
    get(param) {
      const known = files.get(param);
      if (known) return known;
      const reference = references.find((one) => one.param === param);
      if (!reference) throw new RangeError(`the order has no reference ${param}`);
      const file = open(reference);
      files.set(param, file);
      return file;
    },
  };
}

const dataOf = (uri: string): Promise<Buffer> => decodedBase64(uri, uri.indexOf(',') + 1);

/** Of a call that is about no order. */
export const NO_FILES: ReferenceFiles = {
  get: (param) => {
    throw new RangeError(`this call has no reference ${param}`);
  },
};
