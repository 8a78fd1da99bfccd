import type { Random } from './random.js';

/** Names that some list takes, and some that none does. */
const NAMES = (
  'limit cursor after before order from to at status model group_by format kind name history account_id key_id task_id ' +
  'subject_id full include alt q __proto__ constructor toString limit[] limit[a] limit[__proto__] LIMIT %00'
).split(' ');

const VALUES: readonly ((random: Random) => string)[] = [
  () => '',
  () => '1',
  () => '20',
  () => '-1',
  () => '0',
  () => '1e3',
  () => '1e400',
  () => '0x10',
  () => 'NaN',
  () => '9007199254740993',
  () => '9223372036854775808',
  () => '1.5',
  () => 'true',
  () => 'null',
  () => '%00',
  () => '%ff%fe',
  () => '%',
  () => '%ed%a0%80',
  () => '%27%3B--',
  () => '%25%5F',
  () => '2026-01-01',
  () => '2026-13-45T99:99:99Z',
  () => '+275760-09-13T00:00:00Z',
  () => '-271821-04-20T00:00:00Z',
  () => '0000-01-01',
  () => 'desc',
  () => 'csv',
  () => 'model,day',
  () => 'completed,failed',
  () => 'a'.repeat(4_000),
  () => Buffer.from('{"id":"x","at":"y"}').toString('base64url'),
  () => Buffer.from('[1,null,{}]').toString('base64url'),
  () => Buffer.from('2026-11-28T23:59:59.999999Z|1').toString('base64url'),
  () => Buffer.from('2026-02-30T24:60:60.000000Z|1').toString('base64url'),
  () => Buffer.from('0000-01-01T00:00:00.000000Z|x').toString('base64url'),
  (random) => String(random.below(2 ** 31) - 2 ** 30),
  (random) => encodeURIComponent(String.fromCharCode(random.below(0xd8_00))),
];

/** A query of some fields, each perhaps twice or with what its name does not take. */
export function hostileQuery(random: Random): string {
  const fields = Array.from({ length: 1 + random.below(4) }, () => {
    const field = `${random.pick(NAMES)}=${random.pick(VALUES)(random)}`;
    return random.chance(6) ? `${field}&${field}` : field;
  });
  return `?${fields.join('&')}`;
}

/** What stands in a path where an id is meant. */
export const hostileId = (random: Random): string =>
  random.chance(3) ? encodeURIComponent(random.pick(VALUES)(random)).slice(0, 600) || '-' : 'unknown_1';
