import { isJsonObject, type JsonObject, type ResponsesItem } from '#contracts';
import { asJson } from '../json-object.js';

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
