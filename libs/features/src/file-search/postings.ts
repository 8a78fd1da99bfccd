/** Calls `visit` for each passage of packed postings, as `file_term.postings` has them. */
export function visitPostings(bytes: Buffer, visit: (nth: number, count: number) => void): void {
  for (let at = 0; at < bytes.length; at += 4) {
    const packed = bytes.readUInt32LE(at);
    visit(packed >>> 8, packed & 0xff);
  }
}

/** How many passages packed postings have. */
export const postingCount = (bytes: Buffer): number => bytes.length / 4;

/** Writes how many terms each passage has, two bytes each. */
export function packLengths(lengths: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(lengths.length * 2);
  for (const [index, length] of lengths.entries()) bytes.writeUInt16LE(Math.min(length, 0xffff), index * 2);
  return bytes;
}

/** How many passages packed lengths are of. */
export const lengthCount = (bytes: Buffer): number => bytes.length / 2;
