// What the writers of all styles need.
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '#contracts';
import { jsonBytes } from '#platform';

/**
 * The envelope around a native object: `code` and `data` as in all our answers, and the native fields at the top level
 * as client libraries want them. The native object is serialised once.
 *
 * @param native JSON text of a non-empty object.
 * @param data JSON text of what is in `data`; the native object itself when left out.
 */
export function envelope(native: string, data: string = native): string {
  return `{"code":200,"data":${data},${native.slice(native.indexOf('{') + 1)}`;
}

/** The same of a native object that may be long: written in steps, once, with other work in between. */
export async function envelopeBytes(native: object): Promise<readonly Buffer[]> {
  const pieces = await jsonBytes(native);
  const [first = Buffer.alloc(0), ...rest] = pieces;
  return [Buffer.from('{"code":200,"data":'), ...pieces, Buffer.from(','), first.subarray(1), ...rest];
}

/** Content type of every event stream; the charset keeps old proxies from guessing. */
export const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/** One event whose `event:` line repeats the type inside, as two of the styles want it. */
export const namedEvent = (type: string, json: string): string => `event: ${type}\ndata: ${json}\n\n`;

/** An event that is not written yet: its data may be long. */
export interface NamedData {
  readonly name: string;
  readonly data: JsonObject;
}

/** The beginnings of identifiers that client libraries show to their users. */
export type TextIdPrefix =
  'resp_' | 'chatcmpl_' | 'cmp_' | 'ctc_' | 'msg_' | 'fc_' | 'rs_' | 'call_' | 'toolu_' | 'req_' | `${string}_gw`;

/** A fresh identifier: the prefix and 24 hexadecimal digits. */
export const newTextId = (prefix: TextIdPrefix): string => prefix + randomUUID().replaceAll('-', '').slice(0, 24);

/** Puts several texts of a reply together where a style has one place for all of them: a blank line stands between two. */
export class JoinedTexts {
  private isCut = false;
  private last = '';
  private characters = 0;

  /** How much has been put together, in UTF-16 units. */
  get length(): number {
    return this.characters;
  }

  /** What comes next is another text. */
  cut(): void {
    this.isCut = this.characters > 0;
  }

  /** The piece as it stands in the whole: with the blank line in front when it begins another text. */
  add(piece: string): string {
    if (piece === '') return '';
    const isApart = this.last === '\n' || piece.startsWith('\n');
    const placed = this.isCut && !isApart ? `\n\n${piece}` : piece;
    this.isCut = false;
    this.last = piece.at(-1) ?? this.last;
    this.characters += placed.length;
    return placed;
  }
}
