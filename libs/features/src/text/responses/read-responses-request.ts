import {
  isCustomTool,
  isFunctionTool,
  isKnownItem,
  isNamespace,
  isOptionalTool,
  isRemoteMcp,
  type HostedTool,
  type OutputFormat,
  type ReasoningRequest,
  type ResponsesRequest,
  type ResponsesTool,
  type TextRequest,
  type ToolChoice,
} from '#contracts';
import { asJson, withoutAbsent } from '../json-object.js';
import { isStepItem, readableItems } from '../hosted-tools/readable-items.js';
import { cannotTranslate, expectOffered } from '../refusals.js';
import { stopSequences } from '../request-parts.js';
import { TurnList } from '../turn-list.js';
import { flatName, flatTools } from './flat-tools.js';
import { readResponsesItem } from './read-responses-items.js';
import { nativeMcpTool, responsesOutputLimit } from './native-responses-body.js';

const LOGPROBS = 'message.output_text.logprobs';

/** Reads a checked responses body, whose references are resolved, into the canonical request. */
export function readResponsesRequest(body: ResponsesRequest, model: string, stream: boolean): TextRequest {
  expectNoOdds(body);
  if (body.moderation) throw cannotTranslate('moderation', 'moderation by the vendor');
  const turns = new TurnList('input');
  if (body.instructions) turns.system(body.instructions);
  const items = typeof body.input === 'string' ? [{ role: 'user' as const, content: body.input }] : body.input;
  const read = items.some(isStepItem) ? readableItems(items) : items;
  read.forEach((item, index) => {
    const param = `input[${index}]`;
    if (!isKnownItem(item)) throw cannotTranslate(param, `an item of type "${item.type}"`);
    readResponsesItem(item, param, turns);
  });
  const { toolChoice, onlyTools } = readToolChoice(body.tool_choice, body.tools ?? []);
  const tools = flatTools(body.tools ?? []).map(({ tool }) => tool);
  return withoutAbsent<TextRequest>({
    model,
    stream,
    ...turns.conversation(),
    tools: onlyTools ? tools.filter((tool) => onlyTools.includes(tool.name)) : tools,
    hostedTools: readHostedTools(body),
    toolChoice,
    parallelToolCalls: body.parallel_tool_calls ?? true,
    format: readFormat(body.text),
    reasoning: readReasoning(body.reasoning),
    maxOutputTokens: responsesOutputLimit(body),
    temperature: body.temperature,
    topP: body.top_p,
    stopSequences: stopSequences(body.stop),
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    user: body.safety_identifier ?? body.user,
  });
}

/** Hardly any vendor of another interface returns them. */
function expectNoOdds({ top_logprobs: odds, include }: ResponsesRequest): void {
  if (odds) throw cannotTranslate('top_logprobs', 'log probabilities');
  if (include?.includes(LOGPROBS)) throw cannotTranslate('include', 'log probabilities');
}

function readHostedTools({ tools, tool_choice: choice }: ResponsesRequest): HostedTool[] {
  return (tools ?? []).flatMap((tool, index) => {
    if (isFunctionTool(tool) || isCustomTool(tool) || isNamespace(tool)) return [];
    const definition = isRemoteMcp(tool) ? nativeMcpTool(tool) : asJson(tool);
    const isOptional = isOptionalTool({ ...definition, type: tool.type }, choice);
    return [{ protocol: 'responses' as const, param: `tools[${index}]`, type: tool.type, isOptional, definition }];
  });
}

interface ReadToolChoice {
  readonly toolChoice: ToolChoice;
  /** Set when the choice narrows the tools without forcing a call. */
  readonly onlyTools?: readonly string[];
}

function readToolChoice(sent: ResponsesRequest['tool_choice'], tools: readonly ResponsesTool[]): ReadToolChoice {
  if (sent === null || sent === undefined || sent === 'auto') return { toolChoice: { mode: 'auto' } };
  if (sent === 'none') return { toolChoice: { mode: 'none' } };
  if (sent === 'required') return { toolChoice: { mode: 'required', names: [] } };
  if (sent.type === 'function') {
    const { name, namespace } = 'function' in sent ? sent.function : sent;
    return { toolChoice: { mode: 'required', names: [flatName(namespace, name)] } };
  }
  if (sent.type === 'custom') return { toolChoice: { mode: 'required', names: [flatName(sent.namespace, sent.name)] } };
  if (sent.type !== 'allowed_tools') throw cannotTranslate('tool_choice', 'the choice of a hosted tool');
  const names = sent.tools.flatMap((allowed) => allowedNames(allowed, tools));
  if (sent.mode !== 'required') return { toolChoice: { mode: 'auto' }, onlyTools: names };
  if (names.length > 0) return { toolChoice: { mode: 'required', names } };
  expectOffered(sent.tools, tools);
  // Where none that is left may be called, none must be.
  return { toolChoice: { mode: 'none' } };
}

/** The names of what one entry of `allowed_tools` allows: a tool, all of a namespace, or nothing known. */
function allowedNames(
  { type, name, namespace }: { type?: string; name?: string; namespace?: string | null },
  tools: readonly ResponsesTool[],
): string[] {
  if (name === undefined) return [];
  if (type !== 'namespace') return [flatName(namespace, name)];
  return flatTools(tools)
    .filter(({ origin }) => origin.namespace === name)
    .map(({ tool }) => tool.name);
}

function readFormat(text: ResponsesRequest['text']): OutputFormat {
  const format = text?.format;
  if (format?.type === 'json_schema')
    return withoutAbsent<OutputFormat>({
      type: 'json-schema',
      name: format.name,
      description: format.description,
      schema: format.schema,
      strict: format.strict,
    });
  return { type: format?.type === 'json_object' ? 'json' : 'text' };
}

function readReasoning(sent: ResponsesRequest['reasoning']): ReasoningRequest | undefined {
  if (!sent) return undefined;
  if ((sent.mode ?? 'standard') !== 'standard') throw cannotTranslate('reasoning.mode', 'this mode of reasoning');
  const visible = (sent.summary ?? sent.generate_summary) != null;
  return sent.effort ? { effort: sent.effort, visible } : { visible };
}
