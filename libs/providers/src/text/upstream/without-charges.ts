/** Not who pays, which each reply of OpenAI's responses interface says: that is no amount, and all of the reply would be read for it. */
const BILLING = String.raw`billing(?!"\s*:\s*\{\s*"payer"\s*:\s*"\w*"\s*\})`;
const MONEY = String.raw`(?:cost|pric(?:e|ing)|(?<![a-z])fee(?![db])|credit|charge|(?<![a-z])spen[dt]|usd|byok|${BILLING}|discount|balance|currency)`;

/** The name of a field that says what a vendor charged, as vendors and gateways write it: `cost_in_usd_ticks`, `marketCost`, `is_byok`. */
const CHARGE = new RegExp(MONEY, 'i');

/** A word of such a name, anywhere. Nearly every piece of a stream is passed over by this alone, in a third of the time that the next takes. */
const WORD = new RegExp(
  `cost|pric(?:e|ing)|fee|credit|charge|spen[dt]|usd|byok|${BILLING}|discount|balance|currency`,
  'i',
);

/** Such a name of a field, somewhere; within a text its quotes are escaped, which is no name. */
const MARK = new RegExp(String.raw`"[\w.-]{0,40}${MONEY}[\w.-]{0,40}"\s*:`, 'i');

const isMarked = (text: string): boolean => WORD.test(text) && MARK.test(text);

/** Fields around what a vendor says of a reply, wherever its protocol or its server has them. What is said stands in none of them. */
const AROUND = /^(?:choices|candidates|message|delta|response|error)$/;

/** Fields in which all is the vendor's own account of the reply, however deep; those with an x are additions to its protocol. */
const ACCOUNT = /^(?:x[_-][\w-]+|usage\w*|provider_?metadata|meta|_hidden_params)$/i;

type Search = 'around' | 'account';

/** What stands at a place of a JSON text, without charges, and where it ends. */
interface Read {
  readonly json: string;
  readonly end: number;
}

/**
 * The JSON of a reply without what its vendor charged us, which is no business of a customer; every other byte of it is as it was, unless it
 * stood in an object with a charge. What a model or a caller wrote is left alone, whatever its fields are called: only the vendor's account
 * of the reply is searched. The very same text where there is nothing to leave out, or where it is no JSON.
 *
 * @param json of an object; also as bytes read as Latin-1.
 */
export function withoutCharges(json: string): string {
  if (!isMarked(json)) return json;
  const start = endOfSpace(json, 0);
  const read = json[start] === '{' ? readObject(json, start, 'around') : undefined;
  return read === undefined || read.json.length === read.end - start
    ? json
    : json.slice(0, start) + read.json + json.slice(read.end);
}

/** The same for whole server-sent events; those without a charge stay byte for byte. */
export function eventsWithoutCharges(events: Buffer): Buffer {
  // As Latin-1, which loses no byte and is far quicker than UTF-8.
  const text = events.toString('latin1');
  if (!isMarked(text)) return events;
  return Buffer.from(eachEvent(text, withoutCharges), 'latin1');
}

/** Whole server-sent events with the data of each changed; one whose data stays as it is stays byte for byte. */
export const eachEvent = (events: string, change: (data: string) => string): string =>
  events
    .split(BETWEEN_EVENTS)
    .map((part, index) => (index % 2 === 0 ? changedEvent(part, change) : part))
    .join('');

/** A line's end, and the end of the empty line behind it. */
const BETWEEN_EVENTS = /((?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))+)/;

const DATA_LINE = /^(?:\u00ef\u00bb\u00bf)?data:/;

/** The data of an event may stand in several lines, which are put together and cut apart again in the same places. */
function changedEvent(event: string, change: (data: string) => string): string {
  const lines = event.split(/\r\n|\n|\r/);
  const data = lines.filter((line) => DATA_LINE.test(line)).map((line) => line.slice(line.indexOf(':') + 1));
  const sent = data.join('\n');
  const shown = change(sent);
  if (shown === sent) return event;
  const others = lines.filter((line) => line !== '' && !DATA_LINE.test(line));
  return [...others, ...shown.split('\n').map((line) => `data:${line}`)].join('\n');
}

const SPACE = /[^\t\n\r ]/g;
const STRUCTURE = /["{}[\]]/g;
const END_OF_WORD = /[\s,}\]]|$/g;

const placeOf = (pattern: RegExp, json: string, from: number): number => {
  pattern.lastIndex = from;
  return pattern.exec(json)?.index ?? json.length;
};

const endOfSpace = (json: string, from: number): number => placeOf(SPACE, json, from);

/** Undefined where the text is no JSON. */
function readObject(json: string, start: number, search: Search): Read | undefined {
  const kept: string[] = [];
  let isWhole = true;
  for (let at = endOfSpace(json, start + 1); json[at] === '"'; at = endOfSpace(json, at + 1)) {
    const nameEnd = endOfString(json, at);
    const colon = endOfSpace(json, nameEnd);
    if (json[colon] !== ':') return undefined;
    const name = json.slice(at + 1, nameEnd - 1);
    const isCharge = CHARGE.test(name);
    const value = readValue(json, endOfSpace(json, colon + 1), isCharge ? undefined : searchIn(name, search));
    if (!value) return undefined;
    const isSame = value.json.length === value.end - endOfSpace(json, colon + 1);
    if (!isCharge) kept.push(isSame ? json.slice(at, value.end) : json.slice(at, colon + 1) + value.json);
    isWhole &&= isSame && !isCharge;
    at = endOfSpace(json, value.end);
    if (json[at] === '}') return ended(json, start, at + 1, isWhole ? undefined : `{${kept.join(',')}}`);
    if (json[at] !== ',') return undefined;
  }
  const end = endOfSpace(json, start + 1);
  return json[end] === '}' ? ended(json, start, end + 1, undefined) : undefined;
}

function readList(json: string, start: number, search: Search): Read | undefined {
  const items: string[] = [];
  let isWhole = true;
  let at = endOfSpace(json, start + 1);
  if (json[at] === ']') return ended(json, start, at + 1, undefined);
  for (;;) {
    const item = readValue(json, at, search);
    if (!item) return undefined;
    items.push(item.json);
    isWhole &&= item.json.length === item.end - at;
    at = endOfSpace(json, item.end);
    if (json[at] === ']') return ended(json, start, at + 1, isWhole ? undefined : `[${items.join(',')}]`);
    if (json[at] !== ',') return undefined;
    at = endOfSpace(json, at + 1);
  }
}

const ended = (json: string, start: number, end: number, changed: string | undefined): Read => ({
  json: changed ?? json.slice(start, end),
  end,
});

/** @param search how the value is looked through; undefined: not at all. */
function readValue(json: string, start: number, search: Search | undefined): Read | undefined {
  const first = json[start];
  if (search !== undefined && first === '{') return readObject(json, start, search);
  if (search !== undefined && first === '[') return readList(json, start, search);
  const end = endOfValue(json, start);
  return end > start ? ended(json, start, end, undefined) : undefined;
}

const searchIn = (name: string, around: Search): Search | undefined => {
  if (around === 'account' || ACCOUNT.test(name)) return 'account';
  return AROUND.test(name) ? 'around' : undefined;
};

function endOfValue(json: string, start: number): number {
  if (json[start] === '"') return endOfString(json, start);
  if (json[start] !== '{' && json[start] !== '[') return placeOf(END_OF_WORD, json, start);
  let depth = 0;
  for (let at = start; at < json.length; at = placeOf(STRUCTURE, json, at)) {
    if (json[at] === '"') {
      at = endOfString(json, at);
      continue;
    }
    depth += json[at] === '{' || json[at] === '[' ? 1 : -1;
    at += 1;
    if (depth === 0) return at;
  }
  return start;
}

/** The index just behind the string that begins at `start`. */
function endOfString(json: string, start: number): number {
  let end = start;
  for (;;) {
    end = json.indexOf('"', end + 1);
    if (end === -1) return json.length;
    let slashes = 0;
    while (json[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
}
