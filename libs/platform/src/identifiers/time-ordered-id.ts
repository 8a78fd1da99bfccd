import { randomFillSync } from 'node:crypto';
import { ulid } from 'ulid';

/** Random bytes are drawn by the page: one system call for thousands of characters instead of one for each. */
const page = Buffer.alloc(4096);
let used = page.length;

/** The place in the page of `count` bytes that were never given out. */
function drawn(count: number): number {
  if (used + count > page.length) {
    randomFillSync(page);
    used = 0;
  }
  used += count;
  return used - count;
}

const randomFraction = (): number => page.readUInt8(drawn(1)) / 256;

/** An id that sorts by the millisecond it was made in: `<prefix>_` and 26 characters (ULID, 80 random bits). */
export const timeOrderedId = (prefix: string): string => `${prefix}_${ulid(Date.now(), randomFraction)}`;

const RANDOM_BYTES = 12;

/** An id without an order: `<prefix>_` and 24 hexadecimal digits. */
export function randomId(prefix: string): string {
  const from = drawn(RANDOM_BYTES);
  return `${prefix}_${page.toString('hex', from, from + RANDOM_BYTES)}`;
}
