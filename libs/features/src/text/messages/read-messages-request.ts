import {
  asksForThinking,
  type AssistantPart,
  type FilePart,
  type FunctionTool,
  GatewayError,
  type HostedTool,
  type ImagePart,
  isOptionalTool,
  type JsonObject,
  type MessagesBlock,
  type MessagesDocumentBlock,
  type MessagesImageBlock,
  type MessagesRequest,
  type MessagesSearchResultBlock,
  type MessagesTool,
  type OutputFormat,
  type ReasoningEffort,
  type ReasoningRequest,
  type ReturnedPart,
  type TextPart,
  type TextRequest,
  type ToolChoice,
  type UserPart,
} from '#contracts';
import { readableMessages } from '../hosted-tools/messages-steps.js';
import { asJson, omitNullish } from '../json-object.js';
import { inlineMedia, stopSequences } from '../request-parts.js';
import { TurnList } from '../turn-list.js';

/** Reads a checked messages body into the canonical request. */
export function readMessagesRequest(body: MessagesRequest, model: string, stream: boolean): TextRequest {
  if (body.compaction) throw GatewayError.unsupported('compaction', 'a summary that only its vendor can read');
  if (body.container) throw GatewayError.unsupported('container', 'a container of the vendor');
  if (body.mcp_servers && body.mcp_servers.length > 0) throw GatewayError.unsupported('mcp_servers', 'an MCP server');
  const turns = new TurnList('messages');
  readSystem(body.system).forEach((text) => turns.system(text));
  readableMessages(body.messages, false).forEach(({ role, content }, index) => {
    const blocks: readonly MessagesBlock[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    if (role === 'system') turns.system(readSystemBlocks(blocks, `messages[${index}].content`));
    else readMessagesBlocks(blocks, role, `messages[${index}].content`, turns);
  });
  return omitNullish<TextRequest>({
    model,
    stream,
    ...turns.conversation(),
    ...readTools(body),
    toolChoice: readToolChoice(body.tool_choice),
    parallelToolCalls: !(body.tool_choice && 'disable_parallel_tool_use' in body.tool_choice
      ? body.tool_choice.disable_parallel_tool_use
      : false),
    format: readFormat(body),
    reasoning: readReasoning(body, model),
    maxOutputTokens: body.max_tokens,
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    stopSequences: stopSequences(body.stop_sequences),
    fieldNames: { stop: 'stop_sequences', temperature: 'temperature' },
    user: body.metadata?.user_id,
  });
}

/** Tools that such a message adds or takes away have no words in other interfaces. */
function readSystemBlocks(blocks: readonly MessagesBlock[], param: string): string {
  const texts = blocks.map((block, index) => {
    if (block.type === 'text') return block.text;
    throw GatewayError.unsupported(`${param}[${index}]`, `a block of type "${block.type}" in a system message`, [
      'text',
    ]);
  });
  return texts.join('\n');
}

/** What one agent says to the billing of its vendor. It changes with every request, and no prompt cache would be met behind it. */
export const TO_BILLING = /^x-anthropic-billing-header:.*\n*/;

function readSystem(system: MessagesRequest['system']): string[] {
  if (system === undefined || system === null) return [];
  const [first, ...rest] = typeof system === 'string' ? [system] : system.map((block) => block.text);
  if (first === undefined) return [];
  const said = first.replace(TO_BILLING, '');
  return said === '' && first !== '' ? rest : [said, ...rest];
}

type CustomTool = MessagesTool & {
  name: string;
  input_schema: JsonObject;
  description?: string;
  strict?: boolean | null;
};

const isCustom = (tool: MessagesTool): tool is CustomTool =>
  tool.type === undefined || tool.type === null || tool.type === 'custom';

function readTools({ tools: sent, tool_choice: choice }: MessagesRequest): {
  tools: FunctionTool[];
  hostedTools: HostedTool[];
} {
  const tools = sent ?? [];
  return {
    tools: tools
      .filter(isCustom)
      .map(({ name, description, input_schema: parameters, strict }) =>
        omitNullish<FunctionTool>({ name, description, parameters, strict }),
      ),
    hostedTools: tools.flatMap((tool, index) =>
      isCustom(tool)
        ? []
        : [
            {
              protocol: 'messages',
              param: `tools[${index}]`,
              type: tool.type,
              isOptional: isOptionalTool(tool, choice),
              definition: asJson(tool),
            },
          ],
    ),
  };
}

function readToolChoice(sent: MessagesRequest['tool_choice']): ToolChoice {
  if (sent?.type === 'tool') return { mode: 'required', names: [sent.name] };
  if (sent?.type === 'any') return { mode: 'required', names: [] };
  return { mode: sent?.type === 'none' ? 'none' : 'auto' };
}

function readFormat(body: MessagesRequest): OutputFormat {
  const format = body.output_config?.format ?? body.output_format;
  return format ? { type: 'json-schema', name: 'output', schema: format.schema } : { type: 'text' };
}

function readReasoning(body: MessagesRequest, model: string): ReasoningRequest | undefined {
  const sent = body.thinking;
  if (sent?.type === 'disabled') return { budgetTokens: 0, visible: false };
  const effort = body.output_config?.effort;
  if (!sent && !asksForThinking(model) && !effort) return undefined;
  return omitNullish<ReasoningRequest>({
    effort: effort as ReasoningEffort | undefined,
    budgetTokens: sent?.type === 'enabled' ? sent.budget_tokens : undefined,
    visible: sent === undefined ? asksForThinking(model) : sent.display !== 'omitted',
  });
}

/** Adds the blocks of a user or assistant message to the conversation. What a user says in one message stays together. */
function readMessagesBlocks(
  blocks: readonly MessagesBlock[],
  role: 'user' | 'assistant',
  param: string,
  turns: TurnList,
): void {
  const said: UserPart[] = [];
  blocks.forEach((block, index) => {
    const place = `${param}[${index}]`;
    if (block.type === 'tool_result') {
      turns.user(said.splice(0));
      const content = readResult(block.content, `${place}.content`);
      turns.result({ callId: block.tool_use_id, content, isError: block.is_error ?? false }, `${place}.tool_use_id`);
    } else if (role === 'assistant') turns.assistant([readAssistantBlock(block, place, turns)]);
    else said.push(...readUserBlock(block, place));
  });
  turns.user(said);
}

const USER_BLOCKS = ['text', 'image', 'document', 'search_result', 'tool_result'];
const ASSISTANT_BLOCKS = ['text', 'tool_use', 'thinking', 'redacted_thinking'];

function readUserBlock(block: MessagesBlock, param: string): ReturnedPart[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'image':
      return [readImage(block, param)];
    case 'document':
      return readDocument(block, param);
    case 'search_result':
      return [readSearchResult(block, param)];
    case 'tool_reference':
      // Where loading cannot be deferred, it is among the tools from the beginning.
      return [{ type: 'text', text: `The tool "${block.tool_name}" can be called.` }];
    default:
      throw GatewayError.unsupported(param, `a block of type "${block.type}"`, USER_BLOCKS);
  }
}

function readAssistantBlock(block: MessagesBlock, param: string, turns: TurnList): AssistantPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'tool_use':
      return { type: 'call', id: block.id, name: block.name, arguments: turns.arguments.written(block.input) };
    case 'thinking':
      return omitNullish({ type: 'reasoning' as const, text: block.thinking, signature: block.signature });
    case 'redacted_thinking':
      return { type: 'reasoning', text: '', signature: block.data };
    default:
      throw GatewayError.unsupported(
        param,
        `a block of type "${block.type}" in an assistant message`,
        ASSISTANT_BLOCKS,
      );
  }
}

function readImage({ source }: MessagesImageBlock, param: string): ImagePart {
  if (source.type === 'url') return { type: 'image', source: { kind: 'url', url: source.url }, param };
  if (source.type === 'base64') return { type: 'image', source: inlineMedia(source.media_type, source.data), param };
  throw GatewayError.unsupported(`${param}.source`, 'an uploaded file');
}

function readDocument({ source, title, context, citations }: MessagesDocumentBlock, param: string): ReturnedPart[] {
  if (citations?.enabled) throw GatewayError.unsupported(`${param}.citations`, 'citations of documents');
  // No other interface has a place for it: it stands in front of the file.
  const about: TextPart[] = context ? inFront(title, context) : [];
  switch (source.type) {
    case 'text':
      return [{ type: 'text', text: [title, context, source.data].filter(Boolean).join('\n\n') }];
    case 'url':
      return [
        ...about,
        omitNullish<FilePart>({ type: 'file', source: { kind: 'url', url: source.url }, name: title, param }),
      ];
    case 'base64': {
      const inline = inlineMedia(source.media_type, source.data);
      return [...about, omitNullish<FilePart>({ type: 'file', source: inline, name: title, param })];
    }
    case 'content':
      return [...inFront(title, context), ...readParts(source.content, `${param}.source.content`)];
    case 'file':
      throw GatewayError.unsupported(`${param}.source`, 'an uploaded file');
    default:
      throw GatewayError.unsupported(`${param}.source`, 'this kind of document source');
  }
}

function inFront(...said: readonly (string | null | undefined)[]): TextPart[] {
  const text = said.filter(Boolean).join('\n\n');
  return text === '' ? [] : [{ type: 'text', text }];
}

function readSearchResult({ source, title, content, citations }: MessagesSearchResultBlock, param: string): TextPart {
  if (citations?.enabled) throw GatewayError.unsupported(`${param}.citations`, 'citations of search results');
  return { type: 'text', text: [title, source, ...content.map(({ text }) => text)].filter(Boolean).join('\n\n') };
}

type ResultContent = Extract<MessagesBlock, { type: 'tool_result' }>['content'];

const readResult = (content: ResultContent, param: string): ReturnedPart[] =>
  content === undefined || content === null ? [] : readParts(content, param);

function readParts(content: string | readonly MessagesBlock[], param: string): ReturnedPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((block, index) => readUserBlock(block, `${param}[${index}]`));
}
