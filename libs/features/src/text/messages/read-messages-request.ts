import {
  asksForThinking,
  type FunctionTool,
  type HostedTool,
  isOptionalTool,
  type JsonObject,
  type MessagesBlock,
  type MessagesRequest,
  type MessagesTool,
  type OutputFormat,
  type ReasoningEffort,
  type ReasoningRequest,
  type TextRequest,
  type ToolChoice,
} from '#contracts';
import { asJson, withoutAbsent } from '../json-object.js';
import { readableMessages } from '../hosted-tools/readable-blocks.js';
import { cannotTranslate } from '../refusals.js';
import { stopSequences } from '../request-parts.js';
import { TurnList } from '../turn-list.js';
import { readMessagesBlocks } from './read-messages-blocks.js';

/** Reads a checked messages body into the canonical request. */
export function readMessagesRequest(body: MessagesRequest, model: string, stream: boolean): TextRequest {
  if (body.compaction) throw cannotTranslate('compaction', 'a summary that only its vendor can read');
  if (body.container) throw cannotTranslate('container', 'a container of the vendor');
  if (body.mcp_servers && body.mcp_servers.length > 0) throw cannotTranslate('mcp_servers', 'an MCP server');
  const turns = new TurnList('messages');
  readSystem(body.system).forEach((text) => turns.system(text));
  readableMessages(body.messages, false).forEach(({ role, content }, index) => {
    const blocks: readonly MessagesBlock[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    if (role === 'system') turns.system(readSystemBlocks(blocks, `messages[${index}].content`));
    else readMessagesBlocks(blocks, role, `messages[${index}].content`, turns);
  });
  return withoutAbsent<TextRequest>({
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
    throw cannotTranslate(`${param}[${index}]`, `a block of type "${block.type}" in a system message`);
  });
  return texts.join('\n');
}

/** What one agent says to the billing of its vendor. It changes with every request, and no prompt cache would be met behind it. */
const TO_BILLING = /^x-anthropic-billing-header:.*\n*/;

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
        withoutAbsent<FunctionTool>({ name, description, parameters, strict }),
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
  return withoutAbsent<ReasoningRequest>({
    effort: effort as ReasoningEffort | undefined,
    budgetTokens: sent?.type === 'enabled' ? sent.budget_tokens : undefined,
    visible: sent === undefined ? asksForThinking(model) : sent.display !== 'omitted',
  });
}
