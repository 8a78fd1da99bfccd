import type { MediaUpstream, Medium, Operation, UpstreamOutput, ResultSpool } from '#contracts';
import { NamedError } from '#platform';
import {
  type CopiedFile,
  copyToStore,
  deliveredType,
  extensionOf,
  type MediaStore,
  type MediaStoreConfig,
} from '#media';

/** The most that columns of sizes and lengths hold; a header that states more is cut to it. */
export const LARGEST_INTEGER = 2_147_483_647;

export interface SettledFile {
  readonly ordinal: number;
  readonly role: 'output' | 'last_frame';
  readonly storeKey: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
}

const TYPES = {
  image: ['image/png', 'image/jpeg', 'image/webp', 'image/gif'],
  video: ['video/mp4', 'video/quicktime'],
} as const satisfies Record<Medium, readonly string[]>;

/** What was delivered in place of an image or video. */
export class WrongMedium extends NamedError {
  constructor(
    readonly expected: Medium,
    readonly contentType: string | undefined,
  ) {
    super(
      `${contentType ?? 'a file of no known type'} came in place of ${expected === 'image' ? 'an image' : 'a video'}`,
    );
  }
}

/**
 * The type of a delivered file by its first bytes: vendors state one that is not true.
 *
 * @throws WrongMedium
 */
export function typeOfFile(medium: Medium, beginning: Buffer): string {
  const type = deliveredType(beginning);
  if (type !== undefined && (TYPES[medium] as readonly string[]).includes(type)) return type;
  throw new WrongMedium(medium, type);
}

/** Where a file lies in our store: always at the same place, so that copying is safe to repeat. */
export const storeKeyOf = (taskId: string, ordinal: number, contentType: string): string =>
  `media/${taskId}/${ordinal}.${extensionOf(contentType)}`;

/**
 * What may have been copied for a task that failed after all, under every type in which it may have come; of some outputs only,
 * where `which` says so. It is never shown; it is noted to be removed.
 */
export const leftoverFiles = (
  taskId: string,
  outputs: readonly UpstreamOutput[] | null,
  which: (output: readonly [ordinal: number, output: UpstreamOutput]) => boolean = () => true,
): SettledFile[] =>
  [...(outputs ?? []).entries()]
    .filter(which)
    .flatMap(([ordinal, { role }]) =>
      ALL_TYPES.map((type) => ({
        role,
        contentType: type,
        storeKey: storeKeyOf(taskId, ordinal, type),
      })),
    )
    .map((file, ordinal) => ({
      ...file,
      ordinal,
      bytes: 0,
      sha256: '',
      width: null,
      height: null,
      durationMs: null,
    }));

/** Whatever a vendor says of a file, its type is what its bytes show, and for which medium they were taken is not known here. */
const ALL_TYPES: readonly string[] = [...TYPES.image, ...TYPES.video];

/** Marks an output whose bytes lie in our store already. */
const KEPT = 'kept:';

export const resultSpool = (
  { id, medium }: { readonly id: string; readonly medium: Medium },
  { store, maxBytes, signal }: { store: MediaStore; maxBytes: number; signal: AbortSignal },
): ResultSpool => ({
  async keep(ordinal, bytes) {
    const place = (beginning: Buffer) => {
      const contentType = typeOfFile(medium, beginning);
      return { key: storeKeyOf(id, ordinal, contentType), contentType };
    };
    return KEPT + JSON.stringify(await copyToStore(bytes, { store, place, maxBytes, signal }));
  },
});

/**
 * The file behind the address that a spool gave for this output of the task; undefined for any other address. A vendor may
 * write what it likes, so that only the output's own place in the store counts.
 */
export function spooledFile({ url }: UpstreamOutput, taskId: string, ordinal: number): CopiedFile | undefined {
  if (!url.startsWith(KEPT)) return undefined;
  const file = JSON.parse(url.slice(KEPT.length)) as CopiedFile;
  return file.key === storeKeyOf(taskId, ordinal, file.contentType) ? file : undefined;
}

/**
 * Files that checks may have kept of failed work: they are in our store, and no row names them. Null where there can be none.
 */
export function possiblySpooled(upstream: MediaUpstream | undefined, operation: Operation): UpstreamOutput[] | null {
  const most = upstream?.mayKeep?.(operation) ?? 0;
  const contentType = `${upstream?.traits.checksBring ?? 'video'}/*`;
  return most > 0 ? Array.from({ length: most }, () => ({ role: 'output', contentType, url: KEPT })) : null;
}

export const NO_SPOOL: ResultSpool = {
  keep: () => Promise.reject(new RangeError('this call brings no files')),
};

/** The bounds of storing what a vendor made. */
export interface StoreLimits {
  readonly maxBytes: number;
  /** The longest that one download may take, and all the files of a task together, in milliseconds. */
  readonly downloadMs: number;
  readonly stepMs: number;
}

/** What a task has for its further files, and for proving all readable, besides its longest download. */
const OTHER_FILES_MS = 60_000;
const MEBIBYTE = 1024 ** 2;

export const storeLimitsOf = (config: MediaStoreConfig): StoreLimits => {
  const downloadMs = config.MEDIA_DOWNLOAD_TIMEOUT_SECONDS * 1000;
  return { maxBytes: config.MEDIA_MAX_FILE_MB * MEBIBYTE, downloadMs, stepMs: downloadMs + OTHER_FILES_MS };
};
