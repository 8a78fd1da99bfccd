import type { Medium, ProviderOutput } from '#contracts';
import { deliveredType, extensionOf } from '#media';

/** The most that columns of sizes and lengths hold; a header that states more is cut to it. */
export const LARGEST_INTEGER = 2_147_483_647;

/** A file that is in the store and was found readable. */
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

/** The types in which files of a medium may come. */
const TYPES = {
  image: ['image/png', 'image/jpeg', 'image/webp', 'image/gif'],
  video: ['video/mp4', 'video/quicktime'],
} as const satisfies Record<Medium, readonly string[]>;

/** What was delivered in the place of an image or video. */
export class WrongMedium extends Error {
  constructor(
    readonly expected: Medium,
    readonly contentType: string | undefined,
  ) {
    super(
      `${contentType ?? 'a file of no known type'} came in the place of ${expected === 'image' ? 'an image' : 'a video'}`,
    );
    this.name = 'WrongMedium';
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
  outputs: readonly ProviderOutput[] | null,
  which: (output: readonly [ordinal: number, output: ProviderOutput]) => boolean = () => true,
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
