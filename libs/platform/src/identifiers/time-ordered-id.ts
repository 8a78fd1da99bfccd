import { randomFillSync, randomUUID } from 'node:crypto';
import { ulid } from 'ulid';

/** Random bytes are drawn by the page: one system call for thousands of characters instead of one for each. */
const page = Buffer.alloc(4096);
let used = page.length;

function randomFraction(): number {
  if (used === page.length) {
    randomFillSync(page);
    used = 0;
  }
  const byte = page.readUInt8(used);
  used += 1;
  return byte / 256;
}

/** An id that sorts by the millisecond it was made in: `<prefix>_` and 26 characters (ULID, 80 random bits). */
export const timeOrderedId = (prefix: string): string => `${prefix}_${ulid(Date.now(), randomFraction)}`;

/** An id without an order: `<prefix>_` and 24 hexadecimal digits. */
export const randomId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
