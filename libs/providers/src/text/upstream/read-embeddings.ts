import type { JsonObject } from '#contracts';
import { parseReply } from './codec-failures.js';
import { replaceTopLevelString } from './top-level-field.js';

/** Longer replies are not parsed whole, which would stop the process: vectors pass through unread. In characters. */
const PARSED_WHOLE = 256 * 1024;
/** How far from either end the list of vectors begins and ends, in characters. */
const LONGEST_AROUND = 64 * 1024;
const LIST_BEGINS = /"data"\s*:\s*\[/;
/** Vectors stand in objects that hold no lists of objects. */
const LIST_ENDS = /\}\s*(?=\])/;

/** An upstream's embeddings: `answer` is its object, of a long one with no vectors in `data`. */
export interface ReadEmbeddings {
  readonly answer: JsonObject;
  /** Its JSON, under the caller's name of the model. */
  readonly rewritten: string;
}

/** @throws GatewayError `upstream_error` when it is no JSON object. */
export function readEmbeddings(json: string, upstreamModel: string, model: string): ReadEmbeddings {
  return (
    (json.length > PARSED_WHOLE && readAround(json, upstreamModel, model)) || readWhole(json, upstreamModel, model)
  );
}

function readWhole(json: string, upstreamModel: string, model: string): ReadEmbeddings {
  const answer = parseReply(json);
  if (upstreamModel === model) return { answer, rewritten: json };
  const bytes = Buffer.concat(replaceTopLevelString(Buffer.from(json), 'model', model));
  return { answer, rewritten: bytes.toString('utf8') };
}

/** Reads what stands around the vectors. Undefined when the reply is not laid out so. */
function readAround(json: string, upstreamModel: string, model: string): ReadEmbeddings | undefined {
  const begins = LIST_BEGINS.exec(json.slice(0, LONGEST_AROUND));
  const ends = LIST_ENDS.exec(json.slice(-LONGEST_AROUND));
  if (!begins || !ends) return undefined;
  const start = begins.index + begins[0].length;
  const end = json.length - LONGEST_AROUND + ends.index + ends[0].length;
  try {
    const answer = parseReply(json.slice(0, start) + json.slice(end));
    if (typeof answer['model'] !== 'string') return undefined;
    if (upstreamModel === model) return { answer, rewritten: json };
    const { data: _empty, ...rest }: JsonObject = { ...answer, model };
    return { answer, rewritten: `${JSON.stringify(rest).slice(0, -1)},"data":[${json.slice(start, end)}]}` };
  } catch {
    return undefined;
  }
}
