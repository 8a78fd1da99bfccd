import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NativeBody,
  REDACTED,
  TEXT_PROTOCOLS,
  type TextStyle,
} from '#contracts';
import { JsonTexts } from '#platform';
import { accountIn, callProofIn } from '#providers';
import { asBuffer } from './as-buffer.js';
import { Signs } from './signs.js';

/** Whose proofs there are: vendors', by their protocol, and the gateway's own (`carriedResults`). */
const SIGNERS = [...TEXT_PROTOCOLS, 'gateway'] as const;

/** How the gateway marks a vendor's proof in an answer of another style. No vendor's own proof holds a colon. */
const MARK = new RegExp(`^(${SIGNERS.join('|')}):(?:${REDACTED})?`);

/** What a body with such a mark, or with the empty signature of a vendor that gives none, holds somewhere. */
const SIGNS = new Signs([...SIGNERS.map((signer) => `"${signer}:`), '"signature":""', '"signature": ""']);

/** What a body of the style holds somewhere when it says back any reasoning: names of fields, which no escape can hide. */
const REASONING: Readonly<Record<TextStyle, Signs>> = {
  responses: new Signs(['encrypted_content']),
  messages: new Signs(['signature', '"redacted_thinking"']),
  gemini: new Signs(['hought']),
  chat: new Signs(['reasoning_details', 'thought_signature']),
};

/**
 * An id that the gateway gave to reasoning of another vendor. Some clients drop its proof when their model changes, and keep
 * the id, which a vendor then does not find.
 */
const OWN_ID = /^rs_[0-9a-f]{24}$/;
const OWN_IDS = { beginning: new Signs(['"rs_']), anywhere: /"rs_[0-9a-f]{24}"/ };

const holdsOwnId = (bytes: Buffer): boolean =>
  OWN_IDS.beginning.standIn(bytes) && OWN_IDS.anywhere.test(bytes.toString('latin1'));

/** Larger bodies are not searched for a sign. */
const SEARCHED_BYTES = 1024 * 1024;

/**
 * The native body without reasoning that another vendor signed: after a failover the conversation continues at a vendor
 * that would refuse it. The bytes stay as they are when there is none. A proof of the style's own protocol loses its mark.
 */
export function withoutForeignReasoning(style: TextStyle, native: NativeBody): NativeBody {
  if (native.kind === 'rewritten') return { kind: 'rewritten', body: CLEANERS[style](native.body) };
  const bytes = asBuffer(native.bytes);
  // Looking through a large body takes longer than looking through what it says.
  if (bytes.length <= SEARCHED_BYTES && !mayBeForeign(style, bytes)) return native;
  const body = native.parsed();
  const cleaned = CLEANERS[style](body);
  return cleaned === body ? native : { kind: 'rewritten', body: cleaned };
}

const mayBeForeign = (style: TextStyle, bytes: Buffer): boolean =>
  (REASONING[style].standIn(bytes) && SIGNS.standIn(bytes)) || (style === 'responses' && holdsOwnId(bytes));

/** The same body when nothing in it is foreign. */
type Cleaner = (body: JsonObject) => JsonObject;

const CLEANERS: Readonly<Record<TextStyle, Cleaner>> = {
  responses: (body) => withItems(body, 'input', (item) => cleanItem(item)),
  messages: cleanMessages,
  gemini: (body) => withItems(body, 'contents', (content) => withItems(content, 'parts', cleanPart)),
  chat: (body) => {
    const texts = new JsonTexts();
    return withItems(body, 'messages', (message) => cleanMessage(message, texts));
  },
};

/** Puts each object of a list through `clean`; undefined leaves it out, and so does a list inside that became empty. */
function withItems(body: JsonObject, field: string, clean: (item: JsonObject) => JsonObject | undefined): JsonObject {
  const sent = body[field];
  if (!Array.isArray(sent)) return body;
  let isChanged = false;
  const kept: JsonValue[] = [];
  for (const item of sent as readonly JsonValue[]) {
    const cleaned = isJsonObject(item) ? clean(item) : item;
    isChanged ||= cleaned !== item;
    if (cleaned !== undefined && !(cleaned !== item && isEmptied(cleaned))) kept.push(cleaned);
  }
  return isChanged ? { ...body, [field]: kept } : body;
}

const isEmptied = (item: JsonValue): boolean =>
  isJsonObject(item) && [item['content'], item['parts']].some((list) => Array.isArray(list) && list.length === 0);

/** The proof as the style's own vendor gave it; undefined when another did, or none. */
function ownProof(style: TextStyle, proof: string): string | undefined {
  const [mark, signer] = MARK.exec(proof) ?? [];
  if (mark === undefined) return proof === '' ? undefined : proof;
  if (signer !== style) return undefined;
  const own = proof.slice(mark.length);
  // What else stands in the place of a proof in chat says where its reasoning belongs.
  return style === 'chat' ? callProofIn(own) : own;
}

/** The object with its proof unmarked; undefined when the proof is foreign. */
function withOwnProof(item: JsonObject, style: TextStyle, field: string): JsonObject | undefined {
  const sent = item[field];
  if (typeof sent !== 'string') return item;
  const proof = ownProof(style, sent);
  if (proof === sent) return item;
  return proof === undefined ? undefined : { ...item, [field]: proof };
}

function cleanItem(item: JsonObject): JsonObject | undefined {
  if (item['type'] !== 'reasoning') return item;
  const { id, encrypted_content: proof } = item;
  if (typeof proof === 'string') return withOwnProof(item, 'responses', 'encrypted_content');
  return typeof id === 'string' && OWN_ID.test(id) ? undefined : item;
}

function cleanBlock(block: JsonObject): JsonObject | undefined {
  if (block['type'] === 'thinking') return withOwnProof(block, 'messages', 'signature');
  return block['type'] === 'redacted_thinking' ? withOwnProof(block, 'messages', 'data') : block;
}

function cleanMessages(body: JsonObject): JsonObject {
  const cleaned = withItems(body, 'messages', (message) => withItems(message, 'content', cleanBlock));
  if (cleaned === body || !isUnthoughtCall(cleaned['messages'])) return cleaned;
  // A vendor that is asked to think refuses a turn of calls that begins without its thinking.
  const { thinking: _thinking, ...rest } = cleaned;
  return rest;
}

/** Whether the last turn of the assistant holds calls and no reasoning. */
function isUnthoughtCall(messages: JsonValue | undefined): boolean {
  const turns = Array.isArray(messages) ? (messages as readonly JsonValue[]) : [];
  const last = turns.findLast((turn) => isJsonObject(turn) && turn['role'] === 'assistant');
  const blocks = isJsonObject(last) && Array.isArray(last['content']) ? last['content'] : [];
  const types = blocks.map((block) => (isJsonObject(block) ? block['type'] : undefined));
  return types.includes('tool_use') && !types.includes('thinking') && !types.includes('redacted_thinking');
}

/** A thought goes with its proof; text and calls stay without it. */
function cleanPart(part: JsonObject): JsonObject | undefined {
  const field = 'thoughtSignature' in part ? 'thoughtSignature' : 'thought_signature';
  const cleaned = withOwnProof(part, 'gemini', field);
  if (cleaned !== undefined) return cleaned;
  const { [field]: _proof, ...rest } = part;
  const isOnlyProof = Object.keys(rest).length === 0 || (Object.keys(rest).length === 1 && rest['text'] === '');
  return part['thought'] === true || isOnlyProof ? undefined : rest;
}

/** The proofs of a chat message go, but those of its own vendor; its text, reasoning included, stays. */
const cleanMessage = (message: JsonObject, texts: JsonTexts): JsonObject =>
  withItems(withOwnDetails(message, texts), 'tool_calls', cleanCall);

function withOwnDetails(message: JsonObject, texts: JsonTexts): JsonObject {
  const { reasoning_details: sent, ...rest } = message;
  if (!Array.isArray(sent)) return message;
  const details = (sent as readonly JsonValue[]).flatMap((detail) => ownDetails(detail, texts));
  if (details.length === sent.length && details.every((detail, place) => detail === sent[place])) return message;
  return details.length > 0 ? { ...rest, reasoning_details: details } : rest;
}

/** A detail of the gateway's making becomes the vendor's own ones that its proof holds. */
function ownDetails(detail: JsonValue, texts: JsonTexts): readonly JsonValue[] {
  const proof = isJsonObject(detail) ? (detail['data'] ?? detail['signature']) : undefined;
  if (typeof proof !== 'string') return [detail];
  const mark = MARK.exec(proof)?.[0];
  if (mark === undefined) return proof === '' ? [] : [detail];
  return mark === 'chat:' ? accountIn(proof.slice(mark.length), texts).details : [];
}

function cleanCall(call: JsonObject): JsonObject {
  const { extra_content: extra, ...rest } = call;
  const google = isJsonObject(extra) ? extra['google'] : undefined;
  if (!isJsonObject(google)) return call;
  const cleaned = withOwnProof(google, 'chat', 'thought_signature');
  if (cleaned === google) return call;
  return cleaned === undefined ? rest : { ...call, extra_content: { ...(extra as JsonObject), google: cleaned } };
}
