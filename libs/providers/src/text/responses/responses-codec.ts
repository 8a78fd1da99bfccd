import type { JsonValue } from '#contracts';
import type { ProtocolCodec, ReadProduced } from '../upstream/protocol-codec.js';
import { readResponsesReply, ResponsesStreamDecoder } from './read-responses-reply.js';
import { writeResponsesRequest } from './write-responses-request.js';

/** Where the items of a response hold what the model wrote. */
const WRITTEN: ReadonlySet<string> = new Set([
  'content',
  'summary',
  'text',
  'refusal',
  'arguments',
  'input',
  'code',
  'part',
]);

/** Reads one stream: every kind of item, in pieces, or whole where the server sends no pieces of it. */
function producedInResponses(): ReadProduced {
  /** How many characters of each item have been read, by its place in the output. */
  const lengths = new Map<JsonValue | undefined, number>();
  const read = (index: JsonValue | undefined, text: string): string => {
    lengths.set(index, (lengths.get(index) ?? 0) + text.length);
    return text;
  };
  const inPieces = new Set<JsonValue | undefined>();
  const parts = new Set<string>();
  return (event) => {
    const { type, delta, item, output_index: index } = event;
    if (typeof type !== 'string') return '';
    if (type.endsWith('.delta') && typeof delta === 'string') {
      inPieces.add(index);
      return read(index, delta);
    }
    if (type === 'response.output_item.done') return read(index, written(item).slice(lengths.get(index) ?? 0));
    if (!type.endsWith('.done') || inPieces.has(index)) return '';
    const part = JSON.stringify([index, event['content_index'], event['summary_index']]);
    const text = parts.has(part) ? '' : written(event);
    if (text !== '') parts.add(part);
    return read(index, text);
  };
}

function written(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(written).join('');
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .filter(([name]) => WRITTEN.has(name))
    .map(([, inner]) => (typeof inner === 'string' ? inner : written(inner)))
    .join('');
}

export const responsesCodec: ProtocolCodec = {
  protocol: 'responses',
  path: () => '/responses',
  headers: (key) => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  write: writeResponsesRequest,
  read: readResponsesReply,
  decoder: () => new ResponsesStreamDecoder(),
  producedReader: producedInResponses,
  marks: { decode: /"(?:response\.completed|response\.incomplete|response\.failed|error)"/ },
};
