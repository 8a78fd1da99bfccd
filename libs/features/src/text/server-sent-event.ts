import type { JsonObject } from '#contracts';

/** Content type of every event stream; the charset keeps old proxies from guessing. */
export const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/** One event whose `event:` line repeats the type inside, as two of the styles want it. */
export const namedEvent = (type: string, json: string): string => `event: ${type}\ndata: ${json}\n\n`;

/** An event that is not written yet: its data may be long. */
export interface NamedData {
  readonly name: string;
  readonly data: JsonObject;
}
