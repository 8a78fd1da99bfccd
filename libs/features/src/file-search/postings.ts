/** The bytes of one passage in packed postings: its number in three bytes, and how often the term stands in it. */
export const POSTING_BYTES = 4;

/** The bytes of one passage in packed lengths. */
export const LENGTH_BYTES = 2;

/** Calls `visit` for each passage of packed postings, as `file_term.postings` has them, from one byte to another. */
export function visitPostings(
  bytes: Buffer,
  from: number,
  to: number,
  visit: (nth: number, count: number) => void,
): void {
  for (let at = from; at < Math.min(to, bytes.length); at += POSTING_BYTES) {
    const packed = bytes.readUInt32LE(at);
    visit(packed >>> 8, packed & 0xff);
  }
}

/** Writes how many terms each passage has, two bytes each. */
export function packLengths(lengths: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(lengths.length * LENGTH_BYTES);
  for (const [index, length] of lengths.entries()) bytes.writeUInt16LE(Math.min(length, 0xffff), index * LENGTH_BYTES);
  return bytes;
}
