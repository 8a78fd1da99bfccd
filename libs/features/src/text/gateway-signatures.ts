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
import { accountIn, callProofIn, type MarkedProof, markedProof } from '#providers';
import { asBuffer, ByteMatcher } from './byte-matcher.js';

/** Whose proofs there are: vendors', by their protocol, and the gateway's own (`carriedResults`). */
const SIGNERS: ReadonlySet<string> = new Set([...TEXT_PROTOCOLS, 'gateway']);

/** What a body with such a mark, or with the empty signature of a vendor that gives none, holds somewhere. */
const SIGNS = new ByteMatcher([
  ...[...SIGNERS].flatMap((signer) => [`"${signer}:`, `"${signer}@`]),
  '"signature":""',
  '"signature": ""',
]);

/** What a body of the style holds somewhere when it says back any reasoning: names of fields, which no escape can hide. */
const REASONING: Readonly<Record<TextStyle, ByteMatcher>> = {
  responses: new ByteMatcher(['encrypted_content']),
  messages: new ByteMatcher(['signature', '"redacted_thinking"']),
  gemini: new ByteMatcher(['hought']),
  chat: new ByteMatcher(['reasoning_details', 'thought_signature']),
};

/**
 * An id that the gateway gave to reasoning of another vendor. Some clients drop its proof when their model changes, and keep
 * the id, which a vendor then does not find.
 */
const OWN_ID = /^rs_[0-9a-f]{24}$/;
const OWN_IDS = { beginning: new ByteMatcher(['"rs_']), anywhere: /"rs_[0-9a-f]{24}"/ };

const holdsOwnId = (bytes: Buffer): boolean =>
  OWN_IDS.beginning.standIn(bytes) && OWN_IDS.anywhere.test(bytes.toString('latin1'));

/** Larger bodies are not searched for a sign. */
const SEARCHED_BYTES = 1024 * 1024;

/**
 * The native body without reasoning that another vendor signed, or another account of the vendor: after a failover the
 * conversation continues at one that would refuse it. The bytes stay as they are when there is none. A proof of the style's own
 * protocol loses its mark.
 *
 * @param account the mark of the vendor account; undefined: no proof is kept, whoever gave it.
 */
export function withoutForeignReasoning(style: TextStyle, native: NativeBody, account: string | undefined): NativeBody {
  if (native.kind === 'bytes') {
    const bytes = asBuffer(native.bytes);
    // Looking through a large body takes longer than looking through what it says.
    if (account !== undefined && bytes.length <= SEARCHED_BYTES && !mayBeForeign(style, bytes)) return native;
  }
  const body =
    native.kind === 'rewritten'
      ? native.body
      : native.front
        ? { ...native.front, ...native.parsed() }
        : native.parsed();
  const cleaned = CLEANERS[style](body, account);
  return cleaned === body ? native : { kind: 'rewritten', body: cleaned };
}

const mayBeForeign = (style: TextStyle, bytes: Buffer): boolean =>
  (REASONING[style].standIn(bytes) && SIGNS.standIn(bytes)) || (style === 'responses' && holdsOwnId(bytes));

/** The same body when nothing in it is foreign. */
type Cleaner = (body: JsonObject, account: string | undefined) => JsonObject;

const CLEANERS: Readonly<Record<TextStyle, Cleaner>> = {
  responses: (body, account) => withItems(body, 'input', (item) => cleanItem(item, account)),
  messages: cleanMessages,
  gemini: (body, account) =>
    withItems(body, 'contents', (content) => withItems(content, 'parts', (part) => cleanPart(part, account))),
  chat: (body, account) => {
    const texts = new JsonTexts();
    return withItems(body, 'messages', (message) => cleanMessage(message, { account, texts }));
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

/** The proof as the style's own vendor gave it; undefined when another did, or another account of it, or none. */
function ownProof(style: TextStyle, proof: string, account: string | undefined): string | undefined {
  const marked = markOf(proof);
  if (account === undefined) return undefined;
  if (!marked) return proof === '' ? undefined : proof;
  if (marked.signer !== style || (marked.account ?? account) !== account) return undefined;
  // What else stands in the place of a proof in chat says where its reasoning belongs.
  return style === 'chat' ? callProofIn(marked.proof) : withoutRedaction(marked.proof);
}

const withoutRedaction = (proof: string): string => (proof.startsWith(REDACTED) ? proof.slice(REDACTED.length) : proof);

function markOf(proof: string): MarkedProof | undefined {
  const marked = markedProof(proof);
  return marked && SIGNERS.has(marked.signer) ? marked : undefined;
}

/** The object with its proof unmarked; undefined when the proof is foreign. */
function withOwnProof(
  item: JsonObject,
  style: TextStyle,
  field: string,
  account: string | undefined,
): JsonObject | undefined {
  const sent = item[field];
  if (typeof sent !== 'string') return item;
  const proof = ownProof(style, sent, account);
  if (proof === sent) return item;
  return proof === undefined ? undefined : { ...item, [field]: proof };
}

/** Items that a vendor looks for the reasoning in front of, by their ids. */
const NAMED_ITEMS: ReadonlySet<unknown> = new Set([undefined, 'message', 'function_call', 'custom_tool_call']);

function cleanItem(item: JsonObject, account: string | undefined): JsonObject | undefined {
  const { type, id, encrypted_content: proof } = item;
  if (type === 'reasoning') {
    if (account === undefined) return undefined;
    if (typeof proof === 'string') return withOwnProof(item, 'responses', 'encrypted_content', account);
    return typeof id === 'string' && OWN_ID.test(id) ? undefined : item;
  }
  if (account !== undefined || id === undefined || !NAMED_ITEMS.has(type)) return item;
  const { id: _id, ...rest } = item;
  return rest;
}

function cleanBlock(block: JsonObject, account: string | undefined): JsonObject | undefined {
  const { type } = block;
  if (type !== 'thinking' && type !== 'redacted_thinking') return block;
  const field = type === 'thinking' ? 'signature' : 'data';
  // The interface takes no thought without its proof.
  return typeof block[field] === 'string' ? withOwnProof(block, 'messages', field, account) : undefined;
}

function cleanMessages(body: JsonObject, account: string | undefined): JsonObject {
  const cleaned = withItems(body, 'messages', (message) =>
    withItems(message, 'content', (block) => cleanBlock(block, account)),
  );
  if (cleaned === body || !isUnthoughtCall(cleaned['messages'])) return cleaned;
  // A vendor that is asked to think refuses a turn of calls that begins without its thinking.
  const { thinking: _thinking, ...rest } = cleaned;
  return withoutClearing(rest);
}

/** Edits that clear thinking are refused where none is asked for. */
function withoutClearing(body: JsonObject): JsonObject {
  const { context_management: management, ...rest } = body;
  if (!isJsonObject(management) || !Array.isArray(management['edits'])) return body;
  const edits = (management['edits'] as readonly JsonValue[]).filter(
    (edit) => !(isJsonObject(edit) && typeof edit['type'] === 'string' && edit['type'].startsWith('clear_thinking')),
  );
  return edits.length > 0 ? { ...rest, context_management: { ...management, edits } } : rest;
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
function cleanPart(part: JsonObject, account: string | undefined): JsonObject | undefined {
  const field = 'thoughtSignature' in part ? 'thoughtSignature' : 'thought_signature';
  const cleaned = withOwnProof(part, 'gemini', field, account);
  if (cleaned !== undefined) return cleaned;
  const { [field]: _proof, ...rest } = part;
  const isOnlyProof = Object.keys(rest).length === 0 || (Object.keys(rest).length === 1 && rest['text'] === '');
  return part['thought'] === true || isOnlyProof ? undefined : rest;
}

/** Whose proofs are kept, and the texts of the whole request. */
interface ChatCleaning {
  readonly account: string | undefined;
  readonly texts: JsonTexts;
}

/** The proofs of a chat message go, but those of its own vendor; its text, reasoning included, stays. */
const cleanMessage = (message: JsonObject, cleaning: ChatCleaning): JsonObject =>
  withItems(withOwnDetails(message, cleaning), 'tool_calls', (call) => cleanCall(call, cleaning.account));

function withOwnDetails(message: JsonObject, cleaning: ChatCleaning): JsonObject {
  const { reasoning_details: sent, ...rest } = message;
  if (!Array.isArray(sent)) return message;
  const details = (sent as readonly JsonValue[]).flatMap((detail) => ownDetails(detail, cleaning));
  if (details.length === sent.length && details.every((detail, place) => detail === sent[place])) return message;
  return details.length > 0 ? { ...rest, reasoning_details: details } : rest;
}

/** A detail of the gateway's making becomes the vendor's own ones that its proof holds. */
function ownDetails(detail: JsonValue, { account, texts }: ChatCleaning): readonly JsonValue[] {
  const proof = isJsonObject(detail) ? (detail['data'] ?? detail['signature']) : undefined;
  if (typeof proof !== 'string') return [detail];
  if (account === undefined) return [];
  const marked = markOf(proof);
  if (!marked) return proof === '' ? [] : [detail];
  const isOwn = marked.signer === 'chat' && (marked.account ?? account) === account;
  return isOwn ? accountIn(marked.proof, texts).details : [];
}

function cleanCall(call: JsonObject, account: string | undefined): JsonObject {
  const { extra_content: extra, ...rest } = call;
  const google = isJsonObject(extra) ? extra['google'] : undefined;
  if (!isJsonObject(google)) return call;
  const cleaned = withOwnProof(google, 'chat', 'thought_signature', account);
  if (cleaned === google) return call;
  return cleaned === undefined ? rest : { ...call, extra_content: { ...(extra as JsonObject), google: cleaned } };
}
