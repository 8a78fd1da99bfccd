import { Random } from './random.js';

const nested = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth);

/** Values that are dear to parse, to check or to keep; `size` says how dear. */
const VALUES: readonly ((random: Random, size: number) => string)[] = [
  () => 'null',
  () => '""',
  () => '-0',
  () => '1e400',
  () => 'true',
  (_random, size) => '9'.repeat(1 + size),
  (_random, size) => `1e${'9'.repeat(1 + (size % 500))}`,
  (_random, size) => nested('[', ']', 1 + size),
  (_random, size) => nested('{"a":', '}', 1 + size).replace('}', '1}'),
  (_random, size) => `[${'{},'.repeat(size)}{}]`,
  (_random, size) => `[${'"",'.repeat(size)}0]`,
  (_random, size) => `{${Array.from({ length: 1 + size }, (_, index) => `"k${index}":${index}`).join(',')}}`,
  (_random, size) => `{${Array.from({ length: 1 + size }, (_, index) => `"${index * 65_536}":0`).join(',')}}`,
  (_random, size) => `"${'\\u0000'.repeat(1 + size)}"`,
  (_random, size) => `"${'\\ud800'.repeat(1 + size)}"`,
  (_random, size) => `"${'\\\\'.repeat(1 + size)}"`,
  (_random, size) => `"${'a'.repeat(1 + size)}"`,
  (_random, size) => `"${'é😀'.repeat(1 + size)}"`,
  (_random, size) => `"${'a '.repeat(1 + size)}"`,
  (_random, size) => `"data:image/png;base64,${'A'.repeat(4 + size * 4)}"`,
  (_random, size) => `"http://${'a.'.repeat(1 + size)}example.com/${'%2e'.repeat(1 + size)}"`,
  (_random, size) => `{"${'k'.repeat(1 + size)}":1}`,
  () => '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  () => '{"a":1,"a":2,"A":3,"\\u0061":4}',
  (random) => String(random.below(2 ** 31) - 2 ** 30),
  (random) => JSON.stringify(String.fromCharCode(random.below(0x10_000))),
];

/** What is done to the bytes of a body at last. */
const BYTES: readonly ((body: Buffer, random: Random) => Buffer)[] = [
  (body, random) => body.subarray(0, random.below(body.length + 1)),
  (body) => Buffer.concat([body, body]),
  (body) => Buffer.concat([Buffer.from('\uFEFF'), body]),
  (body, random) =>
    Buffer.concat([Buffer.alloc(random.below(3_000), ' '), body, Buffer.alloc(random.below(3_000), '\n')]),
  (body, random) => {
    const changed = Buffer.from(body);
    if (changed.length > 0) changed[random.below(changed.length)] = random.below(256);
    return changed;
  },
];

/** A body made out of a good one: some values replaced, keys doubled or respelt, bytes broken. */
export function hostileBody(good: unknown, random: Random): Buffer {
  const size = random.chance(200) ? 20_000 : random.chance(10) ? 1 + random.below(1_000) : random.below(12);
  const text = random.chance(8) ? value(random, size) : written(good, random, size, 0);
  const body = Buffer.from(text);
  return random.chance(4) ? random.pick(BYTES)(body, random) : body;
}

const value = (random: Random, size: number): string => random.pick(VALUES)(random, size);

function written(good: unknown, random: Random, size: number, depth: number): string {
  if (random.chance(6 + depth)) return value(random, size);
  if (Array.isArray(good)) return `[${good.map((entry) => written(entry, random, size, depth + 1)).join(',')}]`;
  if (typeof good !== 'object' || good === null) return JSON.stringify(good);
  const fields = Object.entries(good).flatMap(([key, inner]) => {
    if (inner === undefined) return [];
    const field = `${keyOf(key, random)}:${written(inner, random, size, depth + 1)}`;
    return random.chance(25) ? [field, `${JSON.stringify(key)}:${value(random, size)}`] : [field];
  });
  if (random.chance(12)) fields.push(`"new_field":${value(random, size)}`);
  return `{${fields.join(',')}}`;
}

function keyOf(key: string, random: Random): string {
  if (random.chance(40)) return JSON.stringify(key.toUpperCase());
  if (random.chance(40)) return `"\\u00${key.charCodeAt(0).toString(16).padStart(2, '0')}${key.slice(1)}"`;
  return random.chance(40) ? '"__proto__"' : JSON.stringify(key);
}

/** Bodies of nearly so many bytes, each with one thing in excess. `inline` is a good body around an inline file. */
export function largeBodies(
  bytes: number,
  inline: (data: string) => string,
): readonly (readonly [string, () => Buffer])[] {
  const around = (begin: string, unit: string, end: string): Buffer =>
    Buffer.concat([
      Buffer.from(begin),
      Buffer.alloc(
        Math.max(0, Math.floor((bytes - begin.length - end.length) / Buffer.byteLength(unit))) *
          Buffer.byteLength(unit),
        unit,
      ),
      Buffer.from(end),
    ]);
  return [
    ['empty objects', () => around('{"q":[{}', ',{}', ']}')],
    ['depth', () => around('{"q":', '[', '')],
    ['one number', () => around('{"q":', '7', '}')],
    ['keys of one object', () => manyKeys(bytes)],
    ['one long key', () => around('{"', 'k', '":1}')],
    ['equal keys', () => around('{"a":1', ',"a":1', '}')],
    ['escapes', () => around('{"prompt":"', '\\u0000', '"}')],
    ['backslashes', () => around('{"prompt":"', '\\\\', '"}')],
    ['one text', () => around('{"prompt":"', 'a', '"}')],
    ['one two-byte text', () => around('{"prompt":"', 'é', '"}')],
    ['one text of one word', () => around('{"input":"', 'x', '"}')],
    ['short texts', () => around('["abcdefgh"', ',"abcdefgh"', ']')],
    ['texts of 600 bytes', () => around('["a"', `,"${'b'.repeat(600)}"`, ']')],
    ['white space', () => around('{', ' ', '}')],
    ['a text without an end', () => around('{"prompt":"', 'a', '')],
    ['wrong UTF-8 at the end', () => Buffer.concat([around('{"prompt":"', 'a', ''), Buffer.from([0xff, 0x22, 0x7d])])],
    ['commas', () => around('[', ',', ']')],
    ['an inline file', () => Buffer.from(inline('A'.repeat(Math.floor((bytes - 1_000) / 4) * 4)))],
    ['an inline file that is no base64', () => Buffer.from(inline(`${'A'.repeat(bytes - 1_000)}!`))],
  ];
}

function manyKeys(bytes: number): Buffer {
  const keys: string[] = [];
  for (let length = 0, key = 0; length < bytes - 20; key += 1) {
    const field = `"${key}x":1`;
    keys.push(field);
    length += field.length + 1;
  }
  return Buffer.from(`{${keys.join(',')}}`);
}
