import {
  type Citation,
  type FoundPage,
  type FoundPassage,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type McpApprovalStep,
  type McpCallStep,
  type ResponsesHostedItem,
  type ResponsesItem,
  type ToolStep,
} from '#contracts';
import { asJson } from '../json-object.js';

/** How much of a passage a citation repeats, in characters. */
const LONGEST_QUOTE = 500;

/** A citation in the style's own form. Those of files also say where in the file the passage stands. */
export function writeAnnotation({ start, end, source }: Citation): JsonObject {
  if (source.kind === 'page') {
    const { url, title } = source.page;
    return { type: 'url_citation', start_index: start, end_index: end, title, url };
  }
  const { fileId, filename, text, start: from, end: to } = source.passage;
  return {
    type: 'file_citation',
    file_id: fileId,
    filename,
    index: end,
    start_index: start,
    end_index: end,
    quote: text.slice(0, LONGEST_QUOTE),
    passage: { start: from, end: to },
  };
}

const fileResult = ({ fileId, filename, score, text, attributes, start, end }: FoundPassage): JsonObject => ({
  file_id: fileId,
  filename,
  score,
  text,
  attributes,
  passage: { start, end },
});

const source = ({ url, title }: FoundPage): JsonObject => ({ type: 'url', url, title });

/**
 * A step as an item of the output.
 *
 * @param include what the request wants to see of it besides.
 */
export function stepItem(step: ToolStep, include: readonly string[]): ResponsesHostedItem {
  const status = step.failure === undefined ? ('completed' as const) : ('failed' as const);
  const { id } = step;
  switch (step.type) {
    case 'file_search': {
      const results = include.includes('file_search_call.results') ? step.passages.map(fileResult) : null;
      return { id, type: 'file_search_call', status, queries: [step.query], results };
    }
    case 'web_search': {
      const sources = include.includes('web_search_call.action.sources') ? { sources: step.pages.map(source) } : {};
      const shown = include.includes('web_search_call.results');
      const results = shown ? { results: step.pages.map((page) => ({ ...page })) } : {};
      const action = { type: 'search', query: step.query, queries: [step.query], ...sources };
      return { id, type: 'web_search_call', status, action, ...results };
    }
    case 'mcp_list': {
      const tools = step.tools.map(({ name, description, inputSchema, annotations }): JsonObject => ({
        name,
        description,
        input_schema: inputSchema,
        annotations: annotations ?? null,
      }));
      return { id, type: 'mcp_list_tools', server_label: step.server, tools, error: step.failure ?? null };
    }
    case 'mcp_call':
      return mcpItem(step);
    default:
      return approvalItem(step);
  }
}

function mcpItem({ id, server, name, arguments: json, output, failure, approvalId }: McpCallStep): ResponsesHostedItem {
  return {
    id,
    type: 'mcp_call',
    status: failure === undefined ? 'completed' : 'failed',
    server_label: server,
    name,
    arguments: json,
    approval_request_id: approvalId ?? null,
    output: failure === undefined ? (output ?? '') : null,
    error: failure ?? null,
  };
}

const approvalItem = ({ id, server, name, arguments: json }: McpApprovalStep): ResponsesHostedItem => ({
  id,
  type: 'mcp_approval_request',
  server_label: server,
  name,
  arguments: json,
});

const HOSTED: ReadonlySet<unknown> = new Set([
  'file_search_call',
  'web_search_call',
  'mcp_list_tools',
  'mcp_call',
  'mcp_approval_request',
]);

/** Whether a stored item is of work that the gateway did. */
export const isHostedItem = (item: JsonObject): item is JsonObject & ResponsesHostedItem => HOSTED.has(item['type']);

/** An event without its type's number. */
export interface StepEvent {
  readonly type: string;
  readonly fields: Readonly<Record<string, JsonValue>>;
}

/** An item whose work has not been done. */
function begunItem(item: ResponsesHostedItem): JsonObject {
  switch (item.type) {
    case 'mcp_list_tools':
      return { ...item, tools: [], error: null };
    case 'mcp_call':
      return { ...item, status: 'in_progress', arguments: '', output: null, error: null };
    case 'mcp_approval_request':
      return { ...item };
    case 'file_search_call':
      return { ...item, status: 'in_progress', results: null };
    default:
      return { ...item, status: 'in_progress' };
  }
}

type Place = Readonly<Record<'item_id', string> & Record<'output_index', number>>;

/** The events that begin an item's work, in the order that strict readers demand. */
export function beginningOf(item: ResponsesHostedItem, outputIndex: number): readonly StepEvent[] {
  const place: Place = { item_id: item.id, output_index: outputIndex };
  const added = { type: 'response.output_item.added', fields: { output_index: outputIndex, item: begunItem(item) } };
  const progress = (state: string): StepEvent => ({ type: `response.${item.type}.${state}`, fields: place });
  switch (item.type) {
    case 'file_search_call':
    case 'web_search_call':
      return [added, progress('in_progress'), progress('searching')];
    case 'mcp_list_tools':
      return [added, progress('in_progress')];
    case 'mcp_call':
      return [
        added,
        progress('in_progress'),
        { type: 'response.mcp_call_arguments.delta', fields: { ...place, delta: item.arguments } },
        { type: 'response.mcp_call_arguments.done', fields: { ...place, arguments: item.arguments } },
      ];
    default:
      return [added];
  }
}

/** The events that end an item's work. */
export function endOf(item: ResponsesHostedItem, outputIndex: number): readonly StepEvent[] {
  const place: Place = { item_id: item.id, output_index: outputIndex };
  const done = {
    type: 'response.output_item.done',
    fields: { output_index: outputIndex, item },
  };
  if (item.type === 'mcp_approval_request') return [done];
  const failed = (item.type === 'mcp_call' || item.type === 'mcp_list_tools') && item.error !== null;
  return [{ type: `response.${item.type}.${failed ? 'failed' : 'completed'}`, fields: place }, done];
}

/** A tool as a response says it back: never with what opens its server to others. */
export function withoutTokens(tool: JsonObject): JsonObject {
  if (tool['type'] !== 'mcp') return tool;
  const { authorization: _token, headers: _headers, ...rest } = tool;
  return rest;
}

/** The items of tools that were not run by the caller. */
const STEPS = new Set([
  'file_search_call',
  'web_search_call',
  'mcp_list_tools',
  'mcp_call',
  'mcp_approval_request',
  'mcp_approval_response',
]);

/** How ids of the gateway's own steps end. */
const OWN_ID = /_gw[0-9a-f]{24}$/;

/** Whether an item is of a tool that the gateway, or a vendor, ran. */
export const isStepItem = ({ type }: { readonly type?: string | null | undefined }): boolean => STEPS.has(type ?? '');

/** Whether the gateway ran it, so that no vendor knows about it. */
export function isOwnStep(item: { readonly type?: string | null | undefined }): boolean {
  if (!isStepItem(item)) return false;
  const { id, approval_request_id: answered } = item as { id?: unknown; approval_request_id?: unknown };
  return [id, answered].some((name) => typeof name === 'string' && OWN_ID.test(name));
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A call of a function and what it returned. */
const pair = (id: string, name: string, json: string, output: string): ResponsesItem[] => [
  { type: 'function_call', call_id: id, name, arguments: json },
  { type: 'function_call_output', call_id: id, output },
];

function searchOf(item: JsonObject): ResponsesItem[] {
  const { id, results, queries } = item;
  if (!Array.isArray(results)) return [];
  const texts = (results as unknown[]).map((result) =>
    isJsonObject(result) ? `${textOf(result['filename'] ?? result['url'])}\n${textOf(result['text'])}` : '',
  );
  const query = Array.isArray(queries) ? (queries as unknown[]).map(textOf).join('; ') : '';
  const name = item['type'] === 'file_search_call' ? 'file_search' : 'web_search';
  return pair(textOf(id), name, JSON.stringify({ query }), texts.join('\n\n'));
}

/** A call of a server's tool that the caller did not approve, as the model reads it. */
function declined(request: JsonObject, answers: ReadonlyMap<unknown, JsonObject>): ResponsesItem[] {
  const { id, name, arguments: json } = request;
  const answer = answers.get(id);
  if (answer?.['approve'] !== false) return [];
  const reason = textOf(answer['reason']);
  const output = `The user did not approve this call.${reason === '' ? '' : ` They said: ${reason}`}`;
  return pair(textOf(id), textOf(name), textOf(json) || '{}', output);
}

/**
 * Items of tools, as calls of functions and what they returned, which every protocol can say. A search whose
 * results were not kept is left out: its result is in the text after it.
 */
export function readableItems(
  items: readonly ResponsesItem[],
  isRead: (item: ResponsesItem) => boolean = isStepItem,
): ResponsesItem[] {
  const answers = new Map(
    items.flatMap((item) => {
      const json = asJson(item);
      return json['type'] === 'mcp_approval_response' ? [[json['approval_request_id'], json] as const] : [];
    }),
  );
  return items.flatMap((item) => (isRead(item) ? readableStep(asJson(item), answers) : [item]));
}

function readableStep(item: JsonObject, answers: ReadonlyMap<unknown, JsonObject>): ResponsesItem[] {
  switch (item['type']) {
    case 'mcp_call': {
      const { id, name, arguments: json, output, error } = item;
      const said = textOf(output) || (error == null ? '' : `Error: ${textOf(error) || JSON.stringify(error)}`);
      return pair(textOf(id), textOf(name), textOf(json) || '{}', said);
    }
    case 'mcp_approval_request':
      return declined(item, answers);
    case 'file_search_call':
    case 'web_search_call':
      return searchOf(item);
    default:
      return [];
  }
}
