/** URL parsers drop tabs and line breaks, wherever they stand. */
const BREAKS = /[\t\r\n]/g;
const INLINE = /^\s*data:/i;
/** `http:`, `s3://`, `jar:file:/`, `C:\\`: base64 has no colon, and words have no slash behind theirs. */
const WEB = /^\s*((https?|ftp|file|ws|wss|gopher):|[a-z][a-z\d+.-]*:([a-z]+:)?[/\\])/i;
/** Any scheme, what completes another address, and what names a file of the machine that reads it. */
const ANYWHERE = /^\s*([a-z][a-z\d+.-]*:|[/\\])/i;

/** Fields that hold a file in some interface, and an address instead of it at some vendors. */
const CARRIERS = /^(data|file_data|input_audio|input_video|image|video|audio|file|document|media)s?$/;

/** Fields that may name what is fetched: `url`, `image_urls`, `fileUri`. */
const NAMES_ADDRESS = /^(ur[li]|.*_ur[li]|.*Ur[li])s?$/;

/**
 * Whether a text is an address that might be fetched, by whatever scheme.
 *
 * @param field where it stands: a field that names an address holds nothing else.
 */
export function isAddress(text: string, field = ''): boolean {
  const read = text.replace(BREAKS, '');
  return !INLINE.test(read) && (NAMES_ADDRESS.test(field) ? ANYWHERE : WEB).test(read);
}

/**
 * Whether an address in a field stands for what is read from there.
 *
 * @param holderType the `type` of the object it is in; the `data` of a text is words.
 */
export const mayBeFetched = (field: string, holderType: unknown): boolean =>
  NAMES_ADDRESS.test(field) || carriesFile(field, holderType);

/** Whether a field holds a file, or stands for one by an address. */
export const carriesFile = (field: string, holderType: unknown): boolean =>
  CARRIERS.test(field) && !(field === 'data' && holderType === 'text');
