import type { JsonObject, JsonValue, ModelTraits, NativeBody } from '#contracts';
import { traitsOf } from '../traits/model-traits.js';
import type { ProtocolCodec } from '../upstream/protocol-codec.js';
import { renameTopLevelField } from '../upstream/top-level-field.js';
import { ChatStreamDecoder, readChatReply } from './read-chat-reply.js';
import { withMessagesProven, writeChatRequest } from './write-chat-request.js';

interface Call {
  readonly arguments?: JsonValue;
  readonly input?: JsonValue;
}

interface Spoken {
  readonly content?: JsonValue;
  readonly refusal?: JsonValue;
  readonly reasoning_content?: JsonValue;
  readonly reasoning?: JsonValue;
  readonly reasoning_text?: JsonValue;
  readonly reasoning_details?: JsonValue;
  /** The legacy form of a call. */
  readonly function_call?: Call | null;
  readonly tool_calls?: readonly { readonly function?: Call | null; readonly custom?: Call | null }[] | null;
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: Spoken | null; readonly message?: Spoken | null }[] | null;
}

/** What one chunk says in any of its replies. */
function producedInChat(chunk: JsonObject & Chunk): string {
  let text = '';
  for (const { delta, message } of chunk.choices ?? []) text += spoken(delta ?? message ?? {});
  return text;
}

/** Plain additions: this runs once a token. */
function spoken({
  content,
  refusal,
  reasoning_content: thought,
  reasoning,
  reasoning_text: thinking,
  reasoning_details: details,
  function_call,
  tool_calls,
}: Spoken): string {
  // The names of one thought, of which some vendors use several at once.
  let text = textIn(thought) || textIn(reasoning) || textIn(thinking) || textIn(details);
  text += textIn(content) + textIn(refusal) + calledIn(function_call);
  for (const call of tool_calls ?? []) text += calledIn(call.function) + calledIn(call.custom);
  return text;
}

const calledIn = (call: Call | null | undefined): string =>
  call ? textIn(asText(call.arguments)) + textIn(call.input) : '';

/** Some servers write arguments as an object. */
const asText = (value: JsonValue | undefined): JsonValue | undefined =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value;

/** A text, or the texts of parts, however deep vendors pack them. */
function textIn(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(textIn).join('');
  if (typeof value !== 'object' || value === null) return '';
  const { text, thinking, summary } = value as JsonObject;
  return textIn(text) + textIn(thinking) + textIn(summary);
}

type LimitField = ModelTraits['output_limit_field'];

/**
 * A body with its output limit under the name that the vendor has for it: the two names mean one limit, and many vendors
 * know only one of them. Every other byte stays as it is.
 */
function withLimitField(native: NativeBody, field: LimitField): NativeBody {
  const other = field === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  if (native.kind === 'bytes' && native.front) {
    // It stands once: what is in front is not in the bytes.
    const { [other]: added, ...front } = native.front;
    if (added !== undefined) return { ...native, front: { ...front, [field]: added } };
    if (front[field] !== undefined) return native;
  }
  const body = native.kind === 'rewritten' ? native.body : native.parsed();
  if (body[other] == null) return native;
  if (native.kind === 'bytes') {
    const { buffer, byteOffset, byteLength } = native.bytes;
    const bytes = renameTopLevelField(Buffer.from(buffer, byteOffset, byteLength), other, field);
    if (bytes) return { ...native, bytes };
  }
  const { [other]: limit = null, ...rest } = body;
  return { kind: 'rewritten', body: { ...rest, [field]: limit } };
}

/** A body with the proofs that the model's server takes no call without. */
function withProofs(native: NativeBody, traits: ModelTraits): NativeBody {
  if (traits.call_proofs !== 'needed') return native;
  const body = native.kind === 'rewritten' ? native.body : native.parsed();
  const sent = body['messages'];
  if (!Array.isArray(sent)) return native;
  const messages = withMessagesProven(sent as readonly JsonValue[], traits);
  if (messages === sent) return native;
  return { kind: 'rewritten', body: { ...(native.kind === 'bytes' && native.front), ...body, messages } };
}

/** The chat completions interface, which most vendors and local servers speak. */
export const chatCodec: ProtocolCodec = {
  protocol: 'chat',
  path: () => '/chat/completions',
  headers: (key) => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  write: writeChatRequest,
  native: (body, options, model) => {
    const traits = traitsOf(options, 'chat', model);
    return withLimitField(withProofs(body, traits), traits.output_limit_field);
  },
  read: readChatReply,
  decoder: () => new ChatStreamDecoder(),
  producedReader: () => producedInChat,
  // Some vendors say in every chunk that the usage is null and the reply not finished: those need no parsing.
  marks: {
    decode: /"(?:usage"\s*:\s*\{|finish_reason"\s*:\s*"|error"\s*:)|(?:^|[\n\r])(?:data: ?)?\[DONE\]/,
    begins: /"choices"\s*:\s*\[\s*[^\]\s]/,
  },
};
