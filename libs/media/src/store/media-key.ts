import { MediaStoreError } from './media-store.js';

const KEY = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/;

/** The longest key, in characters; S3 allows 1024 bytes, file systems 255 for each part. */
export const MAX_KEY_CHARACTERS = 512;

const MAX_PART_CHARACTERS = 200;

/**
 * Refuses keys that could leave the store or mean two things: only `A-Z a-z 0-9 _ . -` in parts divided by single
 * slashes, no part beginning with a dot, at most 512 characters and 200 in one part. Such keys need no escaping in a URL.
 *
 * @throws MediaStoreError `invalid_key`.
 */
export function checkMediaKey(key: string): void {
  const fits = key.length <= MAX_KEY_CHARACTERS && KEY.test(key);
  if (fits && key.split('/').every((part) => part.length <= MAX_PART_CHARACTERS)) return;
  throw new MediaStoreError(
    'invalid_key',
    `${JSON.stringify(key.slice(0, 80))} is not a media key: parts of letters, digits, "_", "." and "-" divided by "/", ` +
      `none beginning with ".", at most ${MAX_KEY_CHARACTERS} characters and ${MAX_PART_CHARACTERS} in one part.`,
  );
}

const EXTENSIONS = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
} as const satisfies Record<string, string>;

/**
 * The file extension for a content type, parameters ignored: `video/mp4` is `mp4`. Types that the gateway does not
 * deliver are `bin`, which is served as a download of unknown type.
 */
export function extensionOf(contentType: string): string {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return Object.hasOwn(EXTENSIONS, type) ? EXTENSIONS[type as keyof typeof EXTENSIONS] : 'bin';
}
