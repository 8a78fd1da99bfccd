// What the readers of all styles need.
import { GatewayError, type MediaSource, type TextRequest } from '#contracts';
import { textCharactersIn } from '#platform';

/** Several times what all models of a vendor read. Where an interface has no word for a part of a schema, it is written as JSON in one go. */
const CHARACTERS_MAX = 4 * 1024 * 1024;

/**
 * A translated request whose schemas are as short as its vendor would have them.
 *
 * @throws GatewayError `invalid_parameter` naming the limit.
 */
export function withShortSchemas(request: TextRequest): TextRequest {
  const { tools, format } = request;
  const schemas = [...tools.map(({ parameters }) => parameters), format.type === 'json-schema' && format.schema];
  if (textCharactersIn(schemas, CHARACTERS_MAX) > CHARACTERS_MAX)
    throw new GatewayError(
      'invalid_parameter',
      `The schemas of all tools and of the answer together may have at most ${CHARACTERS_MAX} characters.`,
    );
  return request;
}

/** Inline media. Clients write its type with parameters, or by a name that not all vendors take. */
export function inlineMedia(named: string, base64: string): Extract<MediaSource, { kind: 'inline' }> {
  const mediaType = named.replace(/;.*/s, '').trim().toLowerCase();
  return { kind: 'inline', mediaType: mediaType === 'image/jpg' ? 'image/jpeg' : mediaType, base64 };
}

const DATA_URI = /^data:([^,]+);base64,/i;

/** Reads a URL or data URI. A text that is neither is taken as bare base64 of unknown type. */
export function readMediaAddress(address: string): MediaSource {
  const head = DATA_URI.exec(address.slice(0, 200));
  if (head) return inlineMedia(head[1] ?? '', address.slice(head[0].length));
  if (/^https?:/i.test(address)) return { kind: 'url', url: address };
  return { kind: 'inline', mediaType: 'application/pdf', base64: address };
}

/** The sequences that end a reply. One without a character ends none, and some vendors refuse it. */
export const stopSequences = (sent: string | readonly string[] | null | undefined): string[] =>
  [sent ?? []].flat().filter((sequence) => sequence !== '');
