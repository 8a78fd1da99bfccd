import {
  flatFunction,
  isFunctionTool,
  isRemoteMcp,
  type JsonObject,
  type JsonValue,
  type NativeBody,
  type ResponsesBlock,
  type ResponsesItem,
  type ResponsesMessage,
  type ResponsesRequest,
  type ResponsesTool,
} from '#contracts';
import { isOwnStep, readableItems } from '../hosted-tools/responses-steps.js';
import { asJson } from '../json-object.js';

/** The native form of our `remote_mcp`. Its timeout has no native counterpart and is a hint. */
export function nativeMcpTool({ remote_mcp: server }: Extract<ResponsesTool, { remote_mcp: unknown }>): JsonObject {
  return {
    type: 'mcp',
    server_label: new URL(server.url).host.replace(/[^A-Za-z0-9_-]/g, '-'),
    server_url: server.url,
    require_approval: 'never',
    ...(server.auth_token ? { authorization: server.auth_token } : {}),
  };
}

/** The tool as the native interface writes it: functions flat, absent fields null. */
export function nativeTool(tool: ResponsesTool): JsonObject {
  if (isRemoteMcp(tool)) return nativeMcpTool(tool);
  if (!isFunctionTool(tool)) return asJson(tool);
  const { name, description, parameters, strict } = flatFunction(tool);
  return {
    type: 'function',
    name,
    description: description ?? null,
    parameters: parameters ?? null,
    strict: strict ?? null,
  };
}

const isOurTool = (tool: ResponsesTool): boolean => tool.type === 'remote_mcp' || 'function' in tool;

function isOurBlock(block: ResponsesBlock, role: string): boolean {
  if (block.type === 'text') return true;
  if (block.type === 'input_text') return role === 'assistant';
  return block.type === 'input_image' && typeof block.image_url === 'object' && block.image_url !== null;
}

function isOurItem(item: ResponsesItem): boolean {
  if (isOwnStep(item)) return true;
  if (item.type === 'compaction') return summaryOf(item) !== undefined;
  if ((item.type ?? 'message') !== 'message') return false;
  const { role, content, tool_calls: calls } = item as ResponsesMessage;
  if (role === 'tool' || calls) return true;
  return Array.isArray(content) && content.some((block) => isOurBlock(block, role));
}

function nativeBlock(block: ResponsesBlock, role: string): JsonValue {
  if (block.type === 'text' || block.type === 'input_text')
    return role === 'assistant'
      ? { type: 'output_text', text: block.text, annotations: [] }
      : { type: 'input_text', text: block.text };
  if (block.type === 'input_image' && typeof block.image_url === 'object' && block.image_url !== null)
    return { ...asJson(block), image_url: block.image_url.url };
  return asJson(block);
}

function nativeItems(sent: ResponsesItem): JsonValue[] {
  if (!isOurItem(sent)) return [asJson(sent)];
  if (sent.type === 'compaction') return [{ role: 'user', content: summaryOf(sent) ?? '' }];
  const item = sent as ResponsesMessage;
  const content = Array.isArray(item.content)
    ? item.content.map((block) => nativeBlock(block, item.role))
    : (item.content ?? null);
  if (item.role === 'tool')
    return [{ type: 'function_call_output', call_id: item.tool_call_id ?? '', output: content }];
  const calls = (item.tool_calls ?? []).map((call) => ({
    type: 'function_call',
    call_id: call.id,
    name: call.function.name,
    arguments: call.function.arguments,
  }));
  return content === null || content === '' ? calls : [{ role: item.role, content }, ...calls];
}

/** The items of a request in native form. */
function nativeInput(input: ResponsesRequest['input']): JsonValue {
  if (typeof input === 'string') return input;
  return (input.some(isOwnStep) ? readableItems(input, isOwnStep) : input).flatMap(nativeItems);
}

/** The native name of the output limit counts first, then those of neighbouring interfaces. */
export const responsesOutputLimit = (body: ResponsesRequest): number | undefined =>
  body.max_output_tokens ?? body.max_completion_tokens ?? body.max_tokens ?? undefined;

const hasOurs = (body: ResponsesRequest): boolean =>
  'max_tokens' in body ||
  'max_completion_tokens' in body ||
  (body.tools ?? []).some(isOurTool) ||
  (Array.isArray(body.input) && body.input.some(isOurItem));

/**
 * The body for an upstream of the same style. The bytes stay as they are unless something in them is the gateway's own:
 * nested tools and assistant `input_text`, chat-style items, aliases of the output limit.
 */
export function nativeResponsesBody(
  body: ResponsesRequest,
  bytes: Uint8Array | undefined,
  added: number | undefined,
): NativeBody {
  const parsed = (): JsonObject => rewrittenBody(body, added);
  // One that names the field and says nothing in it cannot get it a second time.
  if (!bytes || hasOurs(body) || (added !== undefined && 'max_output_tokens' in body))
    return { kind: 'rewritten', body: parsed() };
  return { kind: 'bytes', bytes, ...(added !== undefined && { front: { max_output_tokens: added } }), parsed };
}

function rewrittenBody(body: ResponsesRequest, added: number | undefined): JsonObject {
  const { max_tokens: _maxTokens, max_completion_tokens: _maxCompletionTokens, ...rest } = body;
  const limit = responsesOutputLimit(body) ?? added;
  const rewritten: Record<string, unknown> = { ...rest, input: nativeInput(body.input) };
  if (body.tools) rewritten['tools'] = body.tools.map(nativeTool);
  if (limit !== undefined) rewritten['max_output_tokens'] = limit;
  return asJson(rewritten);
}

/** How the gateway marks a compaction of its own; what another vendor wrote has no such mark. */
const MARK = 'gateway:';
const INTRODUCTION = 'The conversation before this was shortened. What it came to:\n\n';

/** The `encrypted_content` of a compaction item: opaque to its reader, and nothing that its caller did not say. */
export const compactedContent = (summary: string): string => MARK + Buffer.from(summary, 'utf8').toString('base64url');

/** Whether a conversation was shortened by a vendor, in words that only its account can read. */
export const holdsForeignCompaction = ({ input }: ResponsesRequest): boolean =>
  Array.isArray(input) && input.some((item) => item.type === 'compaction' && !item.encrypted_content.startsWith(MARK));

/** What a compaction item of the gateway's own stands for, as a message of the user; undefined for another vendor's. */
export function summaryOf({ encrypted_content: content }: { readonly encrypted_content: string }): string | undefined {
  if (!content.startsWith(MARK)) return undefined;
  return INTRODUCTION + Buffer.from(content.slice(MARK.length), 'base64url').toString('utf8');
}
