import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { beginningOf, endOf, isHostedItem } from '../hosted-tools/responses-steps.js';
import type { NamedData } from '../reply-parts.js';
import { UNFINISHED } from './write-responses-answer.js';

/** An event of a stream that is sent again; `fields` are those beside `type` and `sequence_number`. */
interface ReplayedEvent {
  readonly type: string;
  readonly fields: JsonObject;
}

const lastEventOf = (status: JsonValue | undefined): string =>
  status === 'incomplete' || status === 'failed' ? `response.${status}` : 'response.completed';

/**
 * A stored response as a stream: the events of a live stream, each text in one piece. They are numbered
 * from 0, the same each time, and not as in the stream that first delivered the response.
 *
 * @param startingAfter the number of the last event that is left out; undefined: the stream begins at its beginning.
 * @throws GatewayError `invalid_parameter` for a number that no event has.
 */
export function replayResponse(response: JsonObject, startingAfter: number | undefined): readonly NamedData[] {
  const events = [...eventsOf(response)];
  if (startingAfter !== undefined && startingAfter >= events.length)
    throw new GatewayError(
      'invalid_parameter',
      `starting_after must be from 0 to ${events.length - 1}, the numbers of this stream's events. A stored response is sent again, each text in one piece, with numbers of its own; leave starting_after out to read all of it.`,
      { param: 'starting_after' },
    );
  const from = startingAfter === undefined ? 0 : startingAfter + 1;
  return events
    .slice(from)
    .map(({ type, fields }, index) => ({ name: type, data: { type, sequence_number: from + index, ...fields } }));
}

function* eventsOf(response: JsonObject): Generator<ReplayedEvent> {
  const begun = { ...response, ...UNFINISHED } as JsonObject;
  yield { type: 'response.created', fields: { response: begun } };
  yield { type: 'response.in_progress', fields: { response: begun } };
  for (const [index, item] of objectsIn(response, 'output')) yield* itemEvents(item, index);
  yield { type: lastEventOf(response['status']), fields: { response } };
}

function* itemEvents(item: JsonObject, outputIndex: number): Generator<ReplayedEvent> {
  if (isHostedItem(item)) {
    for (const event of [...beginningOf(item, outputIndex), ...endOf(item, outputIndex)])
      yield { type: event.type, fields: event.fields };
    return;
  }
  const place = { item_id: item['id'] ?? '', output_index: outputIndex };
  yield { type: 'response.output_item.added', fields: { output_index: outputIndex, item: begunItem(item) } };
  yield* partsOf(item, place);
  yield { type: 'response.output_item.done', fields: { output_index: outputIndex, item } };
}

function* partsOf(item: JsonObject, place: JsonObject): Generator<ReplayedEvent> {
  const { type, name = '', arguments: json = '', input = '' } = item;
  if (type === 'message')
    for (const [index, part] of objectsIn(item, 'content'))
      yield* contentEvents(part, { ...place, content_index: index });
  if (type === 'reasoning')
    for (const [index, part] of objectsIn(item, 'summary'))
      yield* summaryEvents(part, { ...place, summary_index: index });
  if (type === 'function_call') {
    yield { type: 'response.function_call_arguments.delta', fields: { ...place, delta: json } };
    yield { type: 'response.function_call_arguments.done', fields: { ...place, name, arguments: json } };
  }
  if (type === 'custom_tool_call') {
    yield { type: 'response.custom_tool_call_input.delta', fields: { ...place, delta: input } };
    yield { type: 'response.custom_tool_call_input.done', fields: { ...place, input } };
  }
}

/** The item without the parts that its own events bring. */
function begunItem(item: JsonObject): JsonObject {
  switch (item['type']) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] };
    case 'reasoning':
      return { ...item, summary: [] };
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' };
    case 'custom_tool_call':
      return { ...item, status: 'in_progress', input: '' };
    default:
      return item;
  }
}

function* contentEvents(part: JsonObject, place: JsonObject): Generator<ReplayedEvent> {
  const isRefusal = part['type'] === 'refusal';
  const text = part[isRefusal ? 'refusal' : 'text'] ?? '';
  const empty: JsonObject = isRefusal ? { ...part, refusal: '' } : { ...part, text: '', annotations: [] };
  yield { type: 'response.content_part.added', fields: { ...place, part: empty } };
  if (isRefusal) {
    yield { type: 'response.refusal.delta', fields: { ...place, delta: text } };
    yield { type: 'response.refusal.done', fields: { ...place, refusal: text } };
  } else if (part['type'] === 'output_text') {
    const logprobs = part['logprobs'] ?? [];
    yield { type: 'response.output_text.delta', fields: { ...place, delta: text, logprobs } };
    for (const [index, annotation] of objectsIn(part, 'annotations'))
      yield {
        type: 'response.output_text.annotation.added',
        fields: { ...place, annotation_index: index, annotation },
      };
    yield { type: 'response.output_text.done', fields: { ...place, text, logprobs } };
  }
  yield { type: 'response.content_part.done', fields: { ...place, part } };
}

function* summaryEvents(part: JsonObject, place: JsonObject): Generator<ReplayedEvent> {
  const text = part['text'] ?? '';
  yield { type: 'response.reasoning_summary_part.added', fields: { ...place, part: { ...part, text: '' } } };
  yield { type: 'response.reasoning_summary_text.delta', fields: { ...place, delta: text } };
  yield { type: 'response.reasoning_summary_text.done', fields: { ...place, text } };
  yield { type: 'response.reasoning_summary_part.done', fields: { ...place, part } };
}

/** The objects of a list, each with its place in it. */
function objectsIn(object: JsonObject, field: string): readonly (readonly [number, JsonObject])[] {
  const list = object[field];
  if (!Array.isArray(list)) return [];
  return [...(list as readonly JsonValue[]).entries()].flatMap(([index, entry]) =>
    isJsonObject(entry) ? [[index, entry] as const] : [],
  );
}
