import { deepStrictEqual, strictEqual } from 'node:assert';

/** The fields of stream events that the readers below use, in all three styles. */
export interface StreamedEvent {
  readonly type: string;
  readonly sequence_number?: number;
  readonly output_index?: number;
  readonly item_id?: string;
  readonly item?: { readonly id: string };
  readonly delta?: unknown;
  readonly text?: string;
  readonly arguments?: string;
  readonly response?: { readonly output: readonly object[] };
  readonly index?: number;
  readonly content_block?: { readonly type: string };
  readonly candidates?: readonly { readonly content: { readonly parts: readonly GeminiPart[] } }[];
}

/** The events of a stream as objects. @throws AssertionError when a named event does not repeat its name inside. */
export function parsedStream(stream: string): StreamedEvent[] {
  const events = stream.split(/\r?\n\r?\n/);
  strictEqual(events.pop(), '');
  return events.map((event) => {
    const lines = event.split('\n');
    const data = JSON.parse(lines.at(-1)?.slice('data: '.length) ?? '') as StreamedEvent;
    deepStrictEqual(lines.slice(0, -1), lines.length > 1 ? [`event: ${data.type}`] : []);
    return data;
  });
}

/**
 * The items of a responses stream, read as a strict client does.
 *
 * @throws AssertionError when the sequence has a gap, items interleave, or pieces do not add up to what is done.
 */
export function rebuiltItems(stream: readonly StreamedEvent[]): object[] {
  const places = stream.map((event) => event.sequence_number);
  deepStrictEqual(places, [...stream.keys()]);
  const beginning = stream.slice(0, 2).map(({ type }) => type);
  deepStrictEqual(beginning, ['response.created', 'response.in_progress']);
  const items: object[] = [];
  let open: string | undefined;
  let pieces = '';
  for (const event of stream.slice(2, -1)) {
    strictEqual(event.output_index, items.length);
    if (event.type === 'response.output_item.added') {
      strictEqual(open, undefined);
      open = event.item?.id;
      pieces = '';
      continue;
    }
    strictEqual(event.item_id ?? event.item?.id, open);
    if (event.type.endsWith('.delta')) pieces += event.delta as string;
    if (/(_text|arguments)\.done$/.test(event.type)) strictEqual(event.text ?? event.arguments, pieces);
    if (event.type !== 'response.output_item.done') continue;
    items.push(event.item ?? {});
    open = undefined;
  }
  return items;
}

interface BlockDelta {
  readonly type: 'text_delta' | 'thinking_delta' | 'signature_delta' | 'input_json_delta';
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly partial_json?: string;
}

/** The block with a piece added to the field that the piece names. */
function grown(block: Record<string, unknown>, { type: _type, ...piece }: BlockDelta): Record<string, unknown> {
  const [[field, more] = ['', '']] = Object.entries(piece);
  const before = block[field];
  return { ...block, [field]: (typeof before === 'string' ? before : '') + more };
}

function finished({ partial_json: json, ...block }: Record<string, unknown>): object {
  return block['type'] === 'tool_use' ? { ...block, input: JSON.parse((json as string | undefined) ?? '{}') } : block;
}

/**
 * The content blocks of a messages stream, read as its client does.
 *
 * @throws AssertionError when blocks interleave, an index is wrong, or the frame of the stream is incomplete.
 */
export function rebuiltBlocks(stream: readonly StreamedEvent[]): object[] {
  const types = stream.map(({ type }) => type);
  deepStrictEqual(
    [...types.slice(0, 2), ...types.slice(-2)],
    ['message_start', 'ping', 'message_delta', 'message_stop'],
  );
  const blocks: object[] = [];
  let open: Record<string, unknown> | undefined;
  for (const event of stream.slice(2, -2)) {
    strictEqual(event.index, blocks.length);
    if (event.content_block) {
      strictEqual(open, undefined);
      open = { ...event.content_block };
      continue;
    }
    if (!open) throw new Error(`${event.type} belongs to no open block`);
    if (event.type === 'content_block_delta') open = grown(open, event.delta as BlockDelta);
    else {
      blocks.push(finished(open));
      open = undefined;
    }
  }
  return blocks;
}

export interface GeminiPart {
  readonly text?: string;
  readonly thought?: true;
  readonly thoughtSignature?: string;
}

const isJoinedTexts = (last: GeminiPart | undefined, next: GeminiPart): last is GeminiPart & { text: string } =>
  last?.text !== undefined &&
  next.text !== undefined &&
  last.thought === next.thought &&
  next.thoughtSignature === undefined;

/** The parts of content-generation chunks; pieces of one text or one thought are put together, a proof begins a text. */
export function rebuiltParts(chunks: readonly Pick<StreamedEvent, 'candidates'>[]): GeminiPart[] {
  const all: GeminiPart[] = [];
  for (const part of chunks.flatMap(({ candidates }) => candidates?.[0]?.content.parts ?? [])) {
    const last = all.at(-1);
    if (isJoinedTexts(last, part)) all.splice(-1, 1, { ...last, ...part, text: last.text + (part.text ?? '') });
    else all.push(part);
  }
  return all.filter((part) => part.text !== '' || part.thoughtSignature !== undefined);
}
