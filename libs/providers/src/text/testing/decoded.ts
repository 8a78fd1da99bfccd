import { type JsonObject, NO_USAGE, type TextEvent, type TextUsage } from '#contracts';
import type { ProtocolCodec } from '../upstream/protocol-codec.js';
import { eventData, EventSplitter } from '../upstream/server-sent-events.js';

/** Server-sent events of these objects, as an upstream writes them. */
export const asStream = (events: readonly (object | string)[]): string =>
  events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');

/** What a codec understands of a stream that the network cut into pieces of `chunkBytes`. */
export function decoded(codec: ProtocolCodec, stream: string, chunkBytes = 7): TextEvent[] {
  const reading = codec.decoder();
  const splitter = new EventSplitter();
  const bytes = Buffer.from(stream);
  const events: TextEvent[] = [];
  const read = (whole: Buffer): void => {
    for (const data of eventData(whole.toString('utf8'))) events.push(...reading.push(data));
  };
  for (let at = 0; at < bytes.length; at += chunkBytes) read(splitter.push(bytes.subarray(at, at + chunkBytes)));
  read(splitter.rest());
  return [...events, ...reading.end()];
}

/** The events with neighbouring pieces of one kind put together, which is all that must be equal whole and streamed. */
export function joined(events: readonly TextEvent[]): TextEvent[] {
  const together: TextEvent[] = [];
  for (const event of events) {
    const last = together.at(-1);
    if (last?.type === 'text' && event.type === 'text')
      together.splice(-1, 1, { type: 'text', text: last.text + event.text });
    else if (last?.type === 'reasoning' && event.type === 'reasoning')
      together.splice(-1, 1, { type: 'reasoning', text: last.text + event.text });
    else if (last?.type === 'arguments' && event.type === 'arguments')
      together.splice(-1, 1, { type: 'arguments', json: last.json + event.json });
    else if (event.type !== 'start') together.push(event);
  }
  return together;
}

/** Reads a whole reply. */
export const readWhole = (codec: ProtocolCodec, reply: object): TextEvent[] => joined(codec.read(reply as JsonObject));

/** Usage as an upstream reports it; what is not named is 0. */
export const usageOf = (tokens: Partial<TextUsage>): TextUsage => ({ ...NO_USAGE, source: 'upstream', ...tokens });
