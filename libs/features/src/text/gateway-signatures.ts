import { createHash } from 'node:crypto';
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
import { accountIn, besideCall, callProofIn, type MarkedProof, markedProof, proofBeside } from '#providers';
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

/** Which proofs of reasoning an upstream can read. */
export interface ReadableProofs {
  /** The mark of its vendor account; undefined: no proof is kept, whoever gave it. */
  readonly account: string | undefined;
  /** Names a proof (`lastProofName`): that one and those before it are of another account, unless they say that they are of this one. */
  readonly provenFrom?: string | undefined;
}

/**
 * The native body without reasoning that another vendor signed, or another account of the vendor: after a failover the
 * conversation continues at one that would refuse it. The bytes stay as they are when there is none. A proof of the style's own
 * protocol loses its mark.
 */
export function withoutForeignReasoning(style: TextStyle, native: NativeBody, readable: ReadableProofs): NativeBody {
  const { account, provenFrom } = readable;
  if (native.kind === 'bytes') {
    const bytes = asBuffer(native.bytes);
    const isSigned = provenFrom !== undefined && REASONING[style].standIn(bytes);
    // Looking through a large body takes longer than looking through what it says.
    if (account !== undefined && bytes.length <= SEARCHED_BYTES && !isSigned && !mayBeForeign(style, bytes))
      return native;
  }
  const body =
    native.kind === 'rewritten'
      ? native.body
      : native.front
        ? { ...native.front, ...native.parsed() }
        : native.parsed();
  const left = provenFrom === undefined ? 0 : 1 + proofsIn(style, body).map(nameOf).lastIndexOf(provenFrom);
  const cleaned = CLEANERS[style](body, new Cut(account, left));
  return cleaned === body ? native : { kind: 'rewritten', body: cleaned };
}

/** The name of the last proof in a body of the style: short, and tells nothing of it. Undefined where there is none. */
export function lastProofName(style: TextStyle, body: JsonObject): string | undefined {
  const last = proofsIn(style, body).at(-1);
  return last === undefined ? undefined : nameOf(last);
}

const nameOf = (proof: string): string => createHash('sha256').update(proof).digest('base64url').slice(0, 12);

const listIn = (value: JsonObject, field: string): readonly JsonObject[] => {
  const list = value[field];
  return Array.isArray(list) ? (list as readonly JsonValue[]).filter((entry) => isJsonObject(entry)) : [];
};

/** All proofs in the order in which they are cleaned; an item that has none stands by its id. */
const PROOFS: Readonly<Record<TextStyle, (body: JsonObject) => readonly JsonValue[]>> = {
  responses: (body) =>
    listIn(body, 'input').map((item) => (item['type'] === 'reasoning' ? reasoningProof(item) : null)),
  messages: (body) =>
    listIn(body, 'messages').flatMap((message) =>
      listIn(message, 'content').map((block) => block[proofField(block) ?? ''] ?? null),
    ),
  gemini: (body) =>
    listIn(body, 'contents').flatMap((content) =>
      listIn(content, 'parts').map((part) => part[signatureField(part)] ?? null),
    ),
  chat: (body) =>
    listIn(body, 'messages').flatMap((message) => [
      ...listIn(message, 'reasoning_details').map((detail) => detail['data'] ?? detail['signature'] ?? null),
      ...listIn(message, 'tool_calls').map(({ extra_content: extra }) => proofBeside(extra) ?? null),
    ]),
};

const proofsIn = (style: TextStyle, body: JsonObject): readonly string[] =>
  PROOFS[style](body).filter((proof) => typeof proof === 'string' && proof !== '') as readonly string[];

const signatureField = (part: JsonObject): string =>
  'thoughtSignature' in part ? 'thoughtSignature' : 'thought_signature';

const reasoningProof = ({ encrypted_content: proof, id }: JsonObject): JsonValue => proof ?? id ?? null;

/** Blocks of a messages turn that hold a proof, and where. */
const PROOF_FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['thinking', 'signature'],
  ['redacted_thinking', 'data'],
]);
const proofField = ({ type }: JsonObject): string | undefined => PROOF_FIELDS.get(type);

/** Blocks that such a turn holds all of, or none. */
const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking', 'connector_text']);

/** Whose proofs are kept while a body is looked through from its beginning. */
class Cut {
  private left: number;

  /** @param left so many proofs at the beginning are of another account. */
  constructor(
    readonly account: string | undefined,
    left: number,
  ) {
    this.left = left;
  }

  /** True: what is here is of another account, or no proof is kept. */
  get isOn(): boolean {
    return this.account === undefined || this.left > 0;
  }

  /** The same for a proof, behind which the next one may be kept. */
  isBefore(proof: JsonValue | undefined): boolean {
    const { isOn } = this;
    if (typeof proof === 'string' && proof !== '') this.left -= 1;
    return isOn;
  }
}

const mayBeForeign = (style: TextStyle, bytes: Buffer): boolean =>
  (REASONING[style].standIn(bytes) && SIGNS.standIn(bytes)) || (style === 'responses' && holdsOwnId(bytes));

/** The same body when nothing in it is foreign. */
type Cleaner = (body: JsonObject, cut: Cut) => JsonObject;

const CLEANERS: Readonly<Record<TextStyle, Cleaner>> = {
  responses: cleanItems,
  messages: cleanMessages,
  gemini: (body, cut) =>
    withItems(body, 'contents', (content) => withItems(content, 'parts', (part) => cleanPart(part, cut))),
  chat: (body, cut) => {
    const texts = new JsonTexts();
    return withItems(body, 'messages', (message) => cleanMessage(message, { cut, texts }));
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
function ownProof(style: TextStyle, proof: string, cut: Cut): string | undefined {
  const marked = markOf(proof);
  const isBefore = cut.isBefore(proof);
  const { account } = cut;
  if (account === undefined) return undefined;
  if (!marked) return proof === '' || isBefore ? undefined : proof;
  if (marked.signer !== style || (marked.account ?? account) !== account) return undefined;
  if (marked.account === undefined && isBefore) return undefined;
  // What else stands in place of a proof in chat says where its reasoning belongs.
  return style === 'chat' ? callProofIn(marked.proof) : withoutRedaction(marked.proof);
}

const withoutRedaction = (proof: string): string => (proof.startsWith(REDACTED) ? proof.slice(REDACTED.length) : proof);

function markOf(proof: string): MarkedProof | undefined {
  const marked = markedProof(proof);
  return marked && SIGNERS.has(marked.signer) ? marked : undefined;
}

/** The object with its proof unmarked; undefined when the proof is foreign. */
function withOwnProof(item: JsonObject, style: TextStyle, field: string, cut: Cut): JsonObject | undefined {
  const sent = item[field];
  if (typeof sent !== 'string') return item;
  const proof = ownProof(style, sent, cut);
  if (proof === sent) return item;
  return proof === undefined ? undefined : { ...item, [field]: proof };
}

/** Items that a vendor looks for the reasoning in front of, by their ids. */
const NAMED_ITEMS: ReadonlySet<unknown> = new Set([undefined, 'message', 'function_call', 'custom_tool_call']);

/** With its reasoning, an item loses the id by which its vendor would look for it; words, calls and results stay. */
function cleanItems(body: JsonObject, cut: Cut): JsonObject {
  let isBereft = false;
  return withItems(body, 'input', (item) => {
    if (item['type'] === 'reasoning') {
      const cleaned = cleanReasoning(item, cut);
      isBereft = cleaned === undefined;
      return cleaned;
    }
    if (item['role'] === 'user') isBereft = false;
    if (!(isBereft || cut.isOn) || item['id'] === undefined || !NAMED_ITEMS.has(item['type'])) return item;
    const { id: _id, ...rest } = item;
    return rest;
  });
}

function cleanReasoning(item: JsonObject, cut: Cut): JsonObject | undefined {
  const { id, encrypted_content: proof } = item;
  if (typeof proof === 'string') return withOwnProof(item, 'responses', 'encrypted_content', cut);
  const isForeign = cut.isBefore(id) || (typeof id === 'string' && OWN_ID.test(id));
  return isForeign ? undefined : item;
}

function cleanBlock(block: JsonObject, cut: Cut): JsonObject | undefined {
  const field = proofField(block);
  if (field === undefined) return block;
  // The interface takes no thought without its proof.
  return typeof block[field] === 'string' ? withOwnProof(block, 'messages', field, cut) : undefined;
}

const countThoughts = (turn: JsonObject): number =>
  listIn(turn, 'content').filter(({ type }) => THOUGHTS.has(type)).length;

/** A turn that lost one of its thoughts loses all of them: the vendor refuses a part. */
function cleanTurn(turn: JsonObject, cut: Cut): JsonObject {
  const cleaned = withItems(turn, 'content', (block) => cleanBlock(block, cut));
  if (cleaned === turn || countThoughts(cleaned) === countThoughts(turn)) return cleaned;
  return withItems(cleaned, 'content', (block) => (THOUGHTS.has(block['type']) ? undefined : block));
}

function cleanMessages(body: JsonObject, cut: Cut): JsonObject {
  const cleaned = withItems(body, 'messages', (message) => cleanTurn(message, cut));
  if (cleaned === body || !hasThinkingBudget(cleaned) || !isUnthoughtCall(cleaned['messages'])) return cleaned;
  // A vendor that is asked to think so many tokens refuses a turn of calls that begins without its thinking.
  const { thinking: _thinking, ...rest } = cleaned;
  return withoutClearing(rest);
}

const hasThinkingBudget = ({ thinking }: JsonObject): boolean =>
  isJsonObject(thinking) && thinking['type'] === 'enabled';

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
function cleanPart(part: JsonObject, cut: Cut): JsonObject | undefined {
  const field = signatureField(part);
  const cleaned = withOwnProof(part, 'gemini', field, cut);
  if (cleaned !== undefined) return cleaned;
  const { [field]: _proof, ...rest } = part;
  const isOnlyProof = Object.keys(rest).length === 0 || (Object.keys(rest).length === 1 && rest['text'] === '');
  return part['thought'] === true || isOnlyProof ? undefined : rest;
}

/** Whose proofs are kept, and the texts of the whole request. */
interface ChatCleaning {
  readonly cut: Cut;
  readonly texts: JsonTexts;
}

/** The proofs of a chat message go, but those of its own vendor; its text, reasoning included, stays. */
const cleanMessage = (message: JsonObject, cleaning: ChatCleaning): JsonObject =>
  withItems(withOwnDetails(message, cleaning), 'tool_calls', (call) => cleanCall(call, cleaning.cut));

function withOwnDetails(message: JsonObject, cleaning: ChatCleaning): JsonObject {
  const { reasoning_details: sent, ...rest } = message;
  if (!Array.isArray(sent)) return message;
  const details = (sent as readonly JsonValue[]).flatMap((detail) => ownDetails(detail, cleaning));
  if (details.length === sent.length && details.every((detail, place) => detail === sent[place])) return message;
  return details.length > 0 ? { ...rest, reasoning_details: details } : rest;
}

/** A detail of the gateway's making becomes the vendor's own ones that its proof holds. */
function ownDetails(detail: JsonValue, { cut, texts }: ChatCleaning): readonly JsonValue[] {
  const proof = isJsonObject(detail) ? (detail['data'] ?? detail['signature']) : undefined;
  if (typeof proof !== 'string') return [detail];
  const isBefore = cut.isBefore(proof);
  const { account } = cut;
  if (account === undefined) return [];
  const marked = markOf(proof);
  if (!marked) return proof === '' || isBefore ? [] : [detail];
  const isOwn = marked.signer === 'chat' && (marked.account ?? account) === account;
  return isOwn && !(isBefore && marked.account === undefined) ? accountIn(marked.proof, texts).details : [];
}

function cleanCall(call: JsonObject, cut: Cut): JsonObject {
  const { extra_content: extra, ...rest } = call;
  const proof = proofBeside(extra);
  if (proof === undefined) return call;
  const own = ownProof('chat', proof, cut);
  if (own === proof) return call;
  return own === undefined ? rest : { ...rest, extra_content: besideCall(own, extra as JsonObject) };
}
