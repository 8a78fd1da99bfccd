import { isJsonObject } from '#contracts';
import { eachEvent } from './without-charges.js';

type Fields = Readonly<Record<string, unknown>>;

/** What one protocol says of a reply that ended by itself, and of one that ended with a call. */
interface Finish {
  /** A sign of a call or of such an end; nearly every piece of a stream is passed over by this alone. */
  readonly mark: RegExp;
  readonly ended: RegExp;
  readonly called: string;
  /** The places of the replies in an object that call, and of those that say that they ended by themselves. */
  readonly callsIn: (sent: Fields) => readonly unknown[];
  readonly endsIn: (sent: Fields) => readonly unknown[];
}

const listIn = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? (value as readonly unknown[]).filter(isJsonObject) : [];

const isCalling = (message: unknown): boolean =>
  isJsonObject(message) && (listIn(message['tool_calls']).length > 0 || isJsonObject(message['function_call']));

const choicesThat = (sent: Fields, holds: (choice: Fields) => boolean): readonly unknown[] =>
  listIn(sent['choices'])
    .filter(holds)
    .map(({ index }) => index ?? 0);

const isCall = (block: unknown): boolean => isJsonObject(block) && block['type'] === 'tool_use';

const FINISHES: Readonly<Partial<Record<string, Finish>>> = {
  chat: {
    mark: /"(?:tool_calls|function_call)"|"finish_reason"\s*:\s*"stop"/,
    ended: /("finish_reason"\s*:\s*)"stop"/g,
    called: '$1"tool_calls"',
    callsIn: (sent) => choicesThat(sent, ({ delta, message }) => isCalling(delta) || isCalling(message)),
    endsIn: (sent) => choicesThat(sent, ({ finish_reason: reason }) => reason === 'stop'),
  },
  messages: {
    mark: /"tool_use"|"stop_reason"\s*:\s*"end_turn"/,
    ended: /("stop_reason"\s*:\s*)"end_turn"/g,
    called: '$1"tool_use"',
    callsIn: ({ content_block: block, content }) => (isCall(block) || listIn(content).some(isCall) ? [0] : []),
    endsIn: (sent) => {
      const said = isJsonObject(sent['delta']) ? sent['delta'] : sent;
      return said['stop_reason'] === 'end_turn' ? [0] : [];
    },
  },
};

/** Has one reply that passes through say that it called, where it did and says that it ended by itself. All else stays byte for byte. */
export class MendedFinish {
  private readonly calling = new Set<unknown>();

  private constructor(private readonly finish: Finish) {}

  /** Undefined for a protocol in which nothing else says so. */
  static of(protocol: string): MendedFinish | undefined {
    const finish = FINISHES[protocol];
    return finish && new MendedFinish(finish);
  }

  /** Whole server-sent events, as Latin-1 or as text. */
  events(events: Buffer): Buffer {
    const text = events.toString('latin1');
    if (!this.finish.mark.test(text)) return events;
    return Buffer.from(
      eachEvent(text, (data) => this.json(data)),
      'latin1',
    );
  }

  /** The JSON of an event or of a whole reply. */
  json(json: string): string {
    const { mark, ended, called, callsIn, endsIn } = this.finish;
    if (!mark.test(json)) return json;
    const sent = parsed(json);
    if (!sent) return json;
    for (const place of callsIn(sent)) this.calling.add(place);
    const ends = endsIn(sent);
    if (ends.length > 0 && ends.every((place) => this.calling.has(place))) return json.replaceAll(ended, called);
    return json;
  }
}

function parsed(json: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
