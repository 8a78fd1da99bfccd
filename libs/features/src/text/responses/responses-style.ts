import {
  type Citation,
  errorInStyle,
  type FinishEvent,
  type FinishReason,
  type GatewayError,
  type JsonObject,
  type ReplyBlock,
  type ResponsesAnswer,
  type ResponsesOutputItem,
  type ResponsesRequest,
  type ResponsesStreamEvents,
  type TextEvent,
} from '#contracts';
import { asBuffer } from '../byte-matcher.js';
import { beginningOf, endOf, type StepEvent, stepItem, writeAnnotation } from '../hosted-tools/responses-steps.js';
import { asJson } from '../json-object.js';
import { EVENT_STREAM, namedEvent, newTextId } from '../reply-parts.js';
import { withShortSchemas } from '../request-parts.js';
import type { ReplyContext, TextStreamEncoder, TextStyleCodec } from '../text-style-codec.js';
import { originsOf, type ToolOrigin } from './flat-tools.js';
import { nativeResponsesBody, responsesOutputLimit } from './native-responses-body.js';
import { readResponsesRequest } from './read-responses-request.js';
import {
  echoRequest,
  envelopedResponse,
  newItemId,
  outcomeOf,
  outputItem,
  outputPart,
  type ResponseLike,
  responsesAnswer,
  UNFINISHED,
} from './write-responses-answer.js';

/** The item being written: its block so far, and where it stands. */
interface OpenItem {
  readonly id: string;
  readonly outputIndex: number;
  /** How the caller knows the tool that is called; undefined for a plain function, and for what is no call. */
  readonly origin: ToolOrigin | undefined;
  block: ItemBlock;
}

/** A block that the model writes. */
type ItemBlock = Exclude<ReplyBlock, { type: 'step' }>;

/**
 * Writes a reply as a native responses stream. The order is the one strict readers demand: created, in_progress, then
 * for each item added, its parts, deltas, done; at last completed or incomplete.
 */
class ResponsesStream implements TextStreamEncoder {
  readonly contentType = EVENT_STREAM;
  private readonly requestId: string;
  private readonly echo: ReturnType<typeof echoRequest>;
  private readonly output: ResponsesOutputItem[] = [];
  private readonly origins: ReadonlyMap<string, ToolOrigin>;
  private readonly onAnswer: ReplyContext<ResponsesRequest>['onAnswer'];
  private readonly include: readonly string[];
  private open: OpenItem | undefined;
  private sequence = 0;
  private readonly previous: string | null | undefined;
  /** What was passed on last, which says how far the upstream had counted. */
  private relayed: Uint8Array | undefined;

  constructor(context: ReplyContext<ResponsesRequest>) {
    this.requestId = context.requestId;
    this.previous = context.body.previous_response_id;
    this.echo = echoRequest(context, newTextId('resp_'));
    this.origins = originsOf(context.body.tools ?? []);
    this.onAnswer = context.onAnswer;
    this.include = context.body.include ?? [];
  }

  write(event: TextEvent): string {
    return (this.sequence === 0 ? this.begin() : '') + this.writeEvent(event);
  }

  relay(events: Uint8Array): string | Uint8Array {
    this.relayed = events;
    return this.previous ? withPrevious(asBuffer(events).toString('utf8'), this.previous) : events;
  }

  end(): string {
    return '';
  }

  heartbeat(): string {
    return ': keepalive\n\n';
  }

  fail(error: GatewayError): readonly string[] {
    const last =
      this.relayed &&
      asBuffer(this.relayed)
        .toString('utf8')
        .matchAll(/"sequence_number":\s*(\d+)/g);
    for (const [, number] of last ?? []) this.sequence = Number(number) + 1;
    const { error: nested } = errorInStyle('responses', error, this.requestId);
    const flat = { code: error.upstreamCode ?? error.code, message: error.publicMessage, param: error.param ?? null };
    const json = JSON.stringify({ type: 'error', sequence_number: this.sequence++, ...flat, error: nested });
    return [namedEvent('error', json)];
  }

  private writeEvent(event: TextEvent): string {
    switch (event.type) {
      case 'text':
      case 'refusal':
      case 'reasoning':
        return this.grow(event.type, event.text);
      case 'break':
        return this.close();
      case 'signature':
        return this.sign(event.signature);
      case 'call':
        return this.openItem({ type: 'call', id: event.id, name: event.name, arguments: '' });
      case 'arguments':
        return this.growArguments(event.json);
      case 'step':
        return this.close() + this.step(event);
      case 'citation':
        return this.cite(event.citation);
      case 'finish':
        return this.close(event.reason) + this.finish(event);
      default:
        return '';
    }
  }

  private event<Type extends keyof ResponsesStreamEvents>(type: Type, fields: ResponsesStreamEvents[Type]): string {
    return namedEvent(type, JSON.stringify({ type, sequence_number: this.sequence++, ...fields }));
  }

  /** The same as `#event` for the events that come once a token: only the delta itself is serialised. */
  private delta(type: keyof ResponsesStreamEvents, { id, outputIndex }: OpenItem, rest: string, delta: string): string {
    const place = `"item_id":"${id}","output_index":${outputIndex}${rest}`;
    const json = `{"type":"${type}","sequence_number":${this.sequence++},${place},"delta":${JSON.stringify(delta)}}`;
    return namedEvent(type, json);
  }

  private begin(): string {
    const response: ResponsesAnswer = { ...this.echo, ...UNFINISHED };
    return this.event('response.created', { response }) + this.event('response.in_progress', { response });
  }

  /** Work of the gateway: no other item is written between its beginning and its end. */
  private step({ state, step }: Extract<TextEvent, { type: 'step' }>): string {
    const item = stepItem(step, this.include);
    const outputIndex = this.output.length;
    const write = ({ type, fields }: StepEvent): string =>
      namedEvent(type, JSON.stringify({ type, sequence_number: this.sequence++, ...fields }));
    const isWhole = step.type === 'mcp_approval';
    const beginning = state === 'begun' || isWhole ? beginningOf(item, outputIndex).map(write).join('') : '';
    if (state === 'begun') return beginning;
    this.output.push(item);
    return beginning + endOf(item, outputIndex).map(write).join('');
  }

  private cite(citation: Citation): string {
    const item = this.open;
    if (item?.block.type !== 'text') return '';
    const before = item.block.citations ?? [];
    item.block = { ...item.block, citations: [...before, citation] };
    const place = {
      item_id: item.id,
      output_index: item.outputIndex,
      content_index: 0,
      annotation_index: before.length,
    };
    return this.event('response.output_text.annotation.added', { ...place, annotation: writeAnnotation(citation) });
  }

  private openItem(block: ItemBlock): string {
    const closed = this.close();
    const origin = block.type === 'call' ? this.origins.get(block.name) : undefined;
    const item: OpenItem = { id: newItemId(block.type, origin), outputIndex: this.output.length, origin, block };
    this.open = item;
    // A text inside of JSON is whole when the JSON is: nothing is shown before.
    const added = origin?.kind === 'custom' ? undefined : outputItem(block, item.id, origin);
    return added ? closed + this.announce(item, added) : closed;
  }

  private announce({ id, outputIndex, block }: OpenItem, added: ResponsesOutputItem): string {
    const place = { item_id: id, output_index: outputIndex };
    const opening = 'status' in added ? { ...added, status: 'in_progress' as const } : added;
    const shown = opening.type === 'message' ? { ...opening, content: [] } : opening;
    const first = this.event('response.output_item.added', { output_index: outputIndex, item: shown });
    if (block.type === 'text' || block.type === 'refusal') {
      const part = outputPart({ type: block.type, text: '' });
      return first + this.event('response.content_part.added', { ...place, content_index: 0, part });
    }
    if (block.type === 'reasoning' && block.signature === undefined) {
      const part = { type: 'summary_text' as const, text: '' };
      return first + this.event('response.reasoning_summary_part.added', { ...place, summary_index: 0, part });
    }
    return first;
  }

  private grow(type: 'text' | 'refusal' | 'reasoning', text: string): string {
    const opening = this.open?.block.type === type ? '' : this.openItem({ type, text: '' });
    const item = this.open;
    if (item?.block.type !== type) return opening;
    item.block = { ...item.block, text: item.block.text + text };
    if (type === 'refusal') return opening + this.delta('response.refusal.delta', item, ',"content_index":0', text);
    return type === 'text'
      ? opening + this.delta('response.output_text.delta', item, ',"content_index":0,"logprobs":[]', text)
      : opening + this.delta('response.reasoning_summary_text.delta', item, ',"summary_index":0', text);
  }

  private growArguments(json: string): string {
    const item = this.open;
    if (item?.block.type !== 'call' || json === '') return '';
    item.block = { ...item.block, arguments: item.block.arguments + json };
    if (item.origin?.kind === 'custom') return '';
    return this.delta('response.function_call_arguments.delta', item, '', json);
  }

  private sign(signature: string): string {
    const item = this.open;
    if (item?.block.type !== 'reasoning')
      return this.openItem({ type: 'reasoning', text: '', signature }) + this.close();
    item.block = { ...item.block, signature };
    return this.close();
  }

  private close(end?: FinishReason): string {
    const open = this.open;
    if (!open) return '';
    // A call without arguments has an empty object of them: clients parse the text.
    const filled = open.block.type === 'call' && open.block.arguments === '' ? this.growArguments('{}') : '';
    this.open = undefined;
    const item = outputItem(open.block, open.id, open.origin, end);
    if (!item) return '';
    this.output.push(item);
    return (
      (item.type === 'custom_tool_call' ? this.announce(open, { ...item, input: '' }) : filled) +
      this.closeParts(open, item) +
      this.event('response.output_item.done', { output_index: open.outputIndex, item })
    );
  }

  private closeParts({ id, outputIndex, block }: OpenItem, item: ResponsesOutputItem): string {
    const place = { item_id: id, output_index: outputIndex };
    if (item.type === 'custom_tool_call') {
      const { input } = item;
      return (
        this.event('response.custom_tool_call_input.delta', { ...place, delta: input }) +
        this.event('response.custom_tool_call_input.done', { ...place, input })
      );
    }
    if (block.type === 'call') {
      const { name, arguments: json } = block;
      return this.event('response.function_call_arguments.done', { ...place, name, arguments: json });
    }
    if (item.type === 'message' && item.content[0]) {
      const [part] = item.content;
      const inContent = { ...place, content_index: 0 };
      if (part.type === 'refusal')
        return (
          this.event('response.refusal.done', { ...inContent, refusal: part.refusal }) +
          this.event('response.content_part.done', { ...inContent, part })
        );
      return (
        this.event('response.output_text.done', { ...place, content_index: 0, text: part.text, logprobs: [] }) +
        this.event('response.content_part.done', { ...place, content_index: 0, part })
      );
    }
    if (item.type !== 'reasoning' || !item.summary[0]) return '';
    const [part] = item.summary;
    return (
      this.event('response.reasoning_summary_text.done', { ...place, summary_index: 0, text: part.text }) +
      this.event('response.reasoning_summary_part.done', { ...place, summary_index: 0, part })
    );
  }

  private finish(finish: FinishEvent): string {
    const response: ResponsesAnswer = { ...this.echo, ...outcomeOf(finish, this.output) };
    this.onAnswer(asJson(response));
    return this.event(response.status === 'incomplete' ? 'response.incomplete' : 'response.completed', { response });
  }
}

/** Where an upstream says that a response continues none. Inside a text the quotes would be escaped. */
const FROM_NONE = /"previous_response_id"\s*:\s*null/g;

/**
 * The JSON of a relayed response, or events with one, with the id of the response it continues. The upstream got the
 * conversation instead, so that it names none.
 */
const withPrevious = (json: string, previous: string | null | undefined): string =>
  previous ? json.replace(FROM_NONE, () => `"previous_response_id":${JSON.stringify(previous)}`) : json;

/** Responses, as docs/api/text.md has them. */
export const responsesStyle: TextStyleCodec<ResponsesRequest> = {
  style: 'responses',
  read: (...sent) => withShortSchemas(readResponsesRequest(...sent)),
  native: nativeResponsesBody,
  outputLimit: responsesOutputLimit,
  thinkingBudget: () => undefined,
  answer: (reply, context) => {
    const response = responsesAnswer(reply, context);
    const json = JSON.stringify(response);
    context.onAnswer(asJson(response), json);
    return envelopedResponse(json, response);
  },
  wrap: (json, answer: JsonObject & Partial<ResponseLike>, sent) =>
    envelopedResponse(withPrevious(json, sent?.previous_response_id), answer as JsonObject & ResponseLike),
  stream: (context) => new ResponsesStream(context),
};
