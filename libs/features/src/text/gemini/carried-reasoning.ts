import type { ReasoningPart } from '#contracts';
import type { JsonTexts } from '#platform';

/** What follows the protocol in a proof that carries texts too. */
const CARRIES = '~';

const MARK = /^([a-z]+(?:@[0-9a-f]{8})?:)(.*)$/s;

/** A reasoning with its proof. */
type Proven = Required<Pick<ReasoningPart, 'text' | 'signature'>>;

/**
 * One proof for all reasoning before a part. Clients of this style keep the proof of a text or a call and drop thoughts,
 * while other vendors want both back: what the proof belongs to goes with it.
 */
export function carriedProof(reasoning: readonly Proven[]): string | undefined {
  const [first] = reasoning;
  if (!first) return undefined;
  const marked = reasoning.map(({ text, signature }) => ({ text, mark: MARK.exec(signature)?.[1], signature }));
  // All are one vendor's; what says only where its reasoning belongs does not name the account.
  const mark = (marked.find((each) => each.mark?.includes('@')) ?? marked[0])?.mark;
  if (mark === undefined || (reasoning.length === 1 && first.text === '')) return first.signature;
  const unmarked = marked.map((each) => [each.text, each.signature.slice(each.mark?.length ?? 0)]);
  return `${mark}${CARRIES}${Buffer.from(JSON.stringify(unmarked)).toString('base64url')}`;
}

/**
 * The reasoning that a proof carries; a proof that carries none is sealed reasoning, without a text.
 *
 * @param texts of the whole request.
 */
export function carriedReasoning(proof: string, texts: JsonTexts): ReasoningPart[] {
  const [, mark = '', rest = ''] = MARK.exec(proof) ?? [];
  const carried = rest.startsWith(CARRIES) ? unpacked(rest.slice(CARRIES.length), texts) : undefined;
  if (!carried) return [{ type: 'reasoning', text: '', signature: proof }];
  return carried.map(([text, signature]) => ({ type: 'reasoning', text, signature: mark + signature }));
}

type Pair = readonly [text: string, signature: string];

const isPair = (value: unknown): value is Pair =>
  Array.isArray(value) && value.length === 2 && value.every((entry) => typeof entry === 'string');

/** Undefined for what is not ours: a caller may send anything. */
function unpacked(packed: string, texts: JsonTexts): readonly Pair[] | undefined {
  try {
    const value = texts.parsePacked(packed);
    return Array.isArray(value) && value.every(isPair) ? value : undefined;
  } catch {
    return undefined;
  }
}
