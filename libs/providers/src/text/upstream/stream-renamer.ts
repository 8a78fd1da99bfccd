import { isJsonObject } from '#contracts';
import { eventData } from './server-sent-events.js';

/** JSON of a text as it stands in bytes that are read as Latin-1, one character a byte. */
const asBytes = (text: string): string => Buffer.from(JSON.stringify(text)).toString('latin1');

/** In an event that may say which model answers. */
const NAMES_MODEL = /"model(?:Version)?"\s*:/;

/** The name of the model in a reply, or in the event of a stream that has it, wherever a protocol puts it. */
function modelIn(data: string): string | undefined {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch {
    return undefined;
  }
  if (!isJsonObject(event)) return undefined;
  const { response, message } = event;
  const inner = isJsonObject(response) ? response : isJsonObject(message) ? message : event;
  const name = inner['model'] ?? inner['modelVersion'];
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/**
 * Shows the caller of a stream the model's name that it knows, in each event that holds the upstream's name: the one that was asked for, or
 * that with which the vendor answers, often with a date. All else stays byte for byte: the bytes are read and written as Latin-1, which loses
 * none and is far quicker than UTF-8.
 */
export function streamRenamer({
  model,
  upstreamModel,
}: {
  readonly model: string;
  readonly upstreamModel: string;
}): (events: Buffer) => Buffer {
  if (model === upstreamModel) return (events) => events;
  const shown = asBytes(model);
  const patternOf = (names: readonly string[]): RegExp => {
    const hidden = names.map((name) => asBytes(name).replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
    return new RegExp(String.raw`("model(?:Version)?"\s*:\s*)(?:${hidden.join('|')})`, 'g');
  };
  let named = patternOf([upstreamModel]);
  let answersAs: string | undefined;
  const learn = (events: Buffer): void => {
    answersAs = eventData(events.toString('utf8'))
      .map(modelIn)
      .find((name) => name !== undefined);
    if (answersAs !== undefined) named = patternOf([upstreamModel, answersAs]);
  };
  return (events) => {
    const text = events.toString('latin1');
    if (answersAs === undefined && NAMES_MODEL.test(text)) learn(events);
    let renamed = '';
    let copied = 0;
    // A loop: `replace` takes twice as long, once a token.
    for (let found = named.exec(text); found; found = named.exec(text)) {
      const [whole, field = ''] = found;
      renamed += text.slice(copied, found.index) + field + shown;
      copied = found.index + whole.length;
    }
    return copied === 0 ? events : Buffer.from(renamed + text.slice(copied), 'latin1');
  };
}
