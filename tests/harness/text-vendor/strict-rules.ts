import { brokenByModel } from './strict-models.js';
import { brokenByAnswer } from './strict-schemas.js';
import { brokenByTools } from './strict-tools.js';

interface Block {
  readonly type?: string;
  readonly text?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
  readonly source?: { readonly type?: string; readonly media_type?: string };
}

interface Turn {
  readonly role?: string;
  readonly content?: string | null | readonly Block[];
  readonly tool_calls?: readonly object[];
  readonly reasoning_content?: string;
}

interface Schema {
  readonly type?: string;
  readonly additionalProperties?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Body {
  readonly output_config?: { readonly format?: { readonly schema: Schema } };
  readonly messages?: readonly Turn[];
  readonly input?: string | readonly { readonly type?: string; readonly encrypted_content?: string }[];
  readonly contents?: readonly {
    readonly role?: string;
    readonly parts: readonly {
      readonly text?: string;
      readonly thoughtSignature?: string;
      readonly functionResponse?: { readonly response: object };
    }[];
  }[];
  readonly thinking?: { readonly type?: string };
  readonly reasoning_effort?: string;
}

/** What this vendor signs its reasoning with. */
const PROOF = /^(proof|sealed)/;

/** What one protocol documents as the proof of a call that another model made; its own client says it of old calls. */
const NO_PROOF = 'skip_thought_signature_validator';

const CALL_ID = /^[a-zA-Z0-9_-]+$/;

const PDF = new Set(['application/pdf']);
const IMAGES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

const blocksOf = ({ content }: Turn): readonly Block[] => (Array.isArray(content) ? (content as readonly Block[]) : []);

function brokenByMessages(body: Body): string | undefined {
  const { messages = [], output_config: config } = body;
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  if (config?.format && !isClosed(config.format.schema))
    return "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false";
  return (
    brokenByThinking(body) ??
    messages
      .flatMap(blocksOf)
      .map(brokenByBlock)
      .find((broken) => broken !== undefined)
  );
}

function brokenByThinking({ messages = [], thinking }: Body): string | undefined {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const types = last ? blocksOf(last).map(({ type }) => type ?? '') : [];
  if (thinking?.type === 'enabled' && types.includes('tool_use') && !types[0]?.endsWith('thinking'))
    return 'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.';
  return undefined;
}

const isClosed = ({ type, additionalProperties, properties = {} }: Schema): boolean =>
  (type !== 'object' || additionalProperties === false) && Object.values(properties).every(isClosed);

/** What a block of each type must be, and the sentence that refuses another. */
const BLOCK_RULES: Readonly<Record<string, readonly [(block: Block) => boolean, string]>> = {
  text: [({ text = '' }) => text.trim() !== '', 'messages: text content blocks must contain non-whitespace text'],
  tool_use: [({ id = '' }) => CALL_ID.test(id), 'messages: tool_use.id: String should match a pattern'],
  tool_result: [({ tool_use_id: id = '' }) => CALL_ID.test(id), 'messages: tool_use_id: String should match a pattern'],
  thinking: [({ signature = '' }) => PROOF.test(signature), 'messages: Invalid `signature` in `thinking` block'],
  redacted_thinking: [
    ({ data = '' }) => data.startsWith('sealed'),
    'messages: Invalid `data` in `redacted_thinking` block',
  ],
  document: [({ source }) => isBase64Of(source, PDF), "messages: Input should be 'application/pdf'"],
  image: [({ source }) => isBase64Of(source, IMAGES), 'messages: Input should be an image'],
};

const isBase64Of = (source: Block['source'], types: ReadonlySet<string>): boolean =>
  source?.type !== 'base64' || types.has(source.media_type ?? '');

function brokenByBlock(block: Block): string | undefined {
  const [isKept, sentence] = BLOCK_RULES[block.type ?? ''] ?? [];
  return isKept && !isKept(block) ? sentence : undefined;
}

function brokenByChat({ messages = [], reasoning_effort: effort }: Body): string | undefined {
  if (messages.some(({ role }, place) => role === 'user' && messages[place - 1]?.role === 'user'))
    return 'Conversation roles must alternate user/assistant/user/assistant/...';
  const unthought = messages.some((turn) => turn.tool_calls && turn.reasoning_content === undefined);
  return effort !== undefined && unthought ? 'Missing `reasoning_content` field in the assistant message' : undefined;
}

function brokenByResponses({ input }: Body): string | undefined {
  const items = typeof input === 'string' ? [] : (input ?? []);
  const isForeign = items.some(
    ({ type, encrypted_content: proof }) => type === 'reasoning' && !PROOF.test(proof ?? ''),
  );
  return isForeign ? 'The encrypted content could not be verified.' : undefined;
}

function brokenByGemini({ contents = [] }: Body): string | undefined {
  if (contents.some(({ role }, place) => place > 0 && role === contents[place - 1]?.role))
    return 'Please ensure that roles alternate between user and model.';
  if (contents[0]?.role === 'model') return 'Please ensure that the conversation begins with a user turn.';
  if (contents.some(({ parts }) => parts.some((part) => part.text === '' && part.thoughtSignature === undefined)))
    return 'Unable to submit request because it must have a text parameter.';
  const results = contents.flatMap(({ parts }) => parts.flatMap(({ functionResponse: result }) => result ?? []));
  if (results.some(({ response }) => JSON.stringify(response).includes('"$ref":')))
    return 'The referenced name in function_response.response does not match to a display_name in the function_response.parts.';
  const proofs = contents.flatMap(({ parts }) =>
    parts.flatMap(({ thoughtSignature: proof }) => (proof ? [proof] : [])),
  );
  return proofs.every((proof) => PROOF.test(proof) || proof === NO_PROOF)
    ? undefined
    : 'Thought signature is not valid.';
}

const RULES = {
  messages: brokenByMessages,
  chat: brokenByChat,
  responses: brokenByResponses,
  gemini: brokenByGemini,
} as const;

/** The sentence with which a vendor that keeps to its own published rules refuses a body; undefined when it takes it. */
export const brokenRule = (protocol: keyof typeof RULES, body: unknown, path: string): string | undefined =>
  brokenByModel(protocol, body, path) ??
  brokenByTools(protocol, body) ??
  brokenByAnswer(protocol, body as object) ??
  RULES[protocol](body as Body);
