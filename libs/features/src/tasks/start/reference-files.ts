import { buffer } from 'node:stream/consumers';
import { type MeasuredReference, MediaFailure, type ReferenceFile, type ReferenceFiles } from '#contracts';
import { decodedBase64, isDataUri, measuredAgain, type OwnFiles } from '#media';
import { mayPass, RemoteStatus, type SafeFetcher } from '#platform';

/** The longest download of one referenced file, in milliseconds. */
const DOWNLOAD_MS = 60_000;
/** As in the check: a passing fault of a host is not the caller's mistake. */
const ATTEMPTS = 2;

export interface ReferenceFileSources {
  readonly fetcher: SafeFetcher;
  /** Where files of our own lie, which are not fetched over the network. */
  readonly store: OwnFiles;
  readonly accountId: string;
  readonly signal: AbortSignal;
}

/** The files of one order, each read at most once, and handed on only as what was checked. */
export function referenceFiles(
  references: readonly MeasuredReference[],
  sources: ReferenceFileSources,
): ReferenceFiles {
  const files = new Map<string, ReferenceFile>();
  return {
    get(param) {
      const known = files.get(param);
      if (known) return known;
      const reference = references.find((one) => one.param === param);
      if (!reference) throw new RangeError(`the order has no reference ${param}`);
      const file = open(reference, sources);
      files.set(param, file);
      return file;
    },
  };
}

function open(reference: MeasuredReference, sources: ReferenceFileSources): ReferenceFile {
  const { source, param } = reference;
  const isInline = isDataUri(source);
  const ownKey = isInline ? undefined : sources.store.keyOf(source);
  let bytes: Promise<Buffer> | undefined;
  return {
    reference,
    isOursAlone: ownKey !== undefined && !source.startsWith('https:'),
    url: () =>
      isInline
        ? Promise.reject(new MediaFailure('unsupported', 'not_possible', { reference: param }))
        : Promise.resolve(source),
    bytes: () => (bytes ??= isInline ? dataOf(source) : checked(reference, ownKey, sources)),
  };
}

async function checked(
  reference: MeasuredReference,
  ownKey: string | undefined,
  sources: ReferenceFileSources,
): Promise<Buffer> {
  const { store, signal } = sources;
  const bytes =
    ownKey === undefined
      ? await download(reference, sources)
      : await buffer(await store.open(ownKey, { start: 0, end: reference.bytes }, signal));
  return measuredAgain(bytes, reference);
}

async function download(reference: MeasuredReference, sources: ReferenceFileSources): Promise<Buffer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await fetched(reference, sources);
    } catch (error) {
      if (!mayPass(error) || attempt === ATTEMPTS) throw error;
    }
  }
}

async function fetched(
  { source: url, bytes: maxBytes }: MeasuredReference,
  { fetcher, accountId, signal }: ReferenceFileSources,
): Promise<Buffer> {
  const { status, body } = await fetcher.get(url, { timeoutMs: DOWNLOAD_MS, maxBytes, accountId, signal });
  if (status === 200) return buffer(body);
  body.destroy();
  throw new RemoteStatus(status);
}

const dataOf = (uri: string): Promise<Buffer> => decodedBase64(uri, uri.indexOf(',') + 1);

/** Of a call that is about no order. */
export const NO_FILES: ReferenceFiles = {
  get: (param) => {
    throw new RangeError(`this call has no reference ${param}`);
  },
};
