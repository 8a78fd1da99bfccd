import type { JsonValue } from '#contracts';
import type { ReadProduced } from '../upstream/protocol-codec.js';

/** Where the items of a response hold what the model wrote. */
const WRITTEN: ReadonlySet<string> = new Set(['content', 'summary', 'text', 'refusal', 'arguments', 'input', 'code']);

/** Reads one stream: every kind of item, in pieces, or whole where the server sends no pieces of it. */
export function producedInResponses(): ReadProduced {
  const inPieces = new Set<JsonValue | undefined>();
  return ({ type, delta, item, output_index: index }) => {
    if (typeof type === 'string' && type.endsWith('.delta') && typeof delta === 'string') {
      inPieces.add(index);
      return delta;
    }
    const isWhole = type === 'response.output_item.done' && !inPieces.has(index);
    return isWhole ? written(item) : '';
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
