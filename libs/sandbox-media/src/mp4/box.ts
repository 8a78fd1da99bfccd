/** The file format's unit: length (with these eight bytes), four-letter type, content (ISO/IEC 14496-12, 4.2). */
export function box(type: string, ...content: readonly Uint8Array[]): Uint8Array {
  const length = content.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([uint32(length), latin1(type), ...content]);
}

/** A box that begins with a version (0 here) and 24 bits of flags. */
export function fullBox(type: string, flags: number, ...content: readonly Uint8Array[]): Uint8Array {
  return box(type, uint32(flags), ...content);
}

/** Single bytes. */
export const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values);

/** Zero bytes, for reserved fields. */
export const zeros = (count: number): Uint8Array => new Uint8Array(count);

/** Big-endian 16-bit numbers. */
export function uint16(...values: readonly number[]): Uint8Array {
  const encoded = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) encoded.writeUInt16BE(value, index * 2);
  return encoded;
}

/** Big-endian 32-bit numbers. */
export function uint32(...values: readonly number[]): Uint8Array {
  const encoded = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) encoded.writeUInt32BE(value, index * 4);
  return encoded;
}

/** One byte for each character. */
export const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/** UTF-8. */
export const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8');

/** A number with sixteen bits after the point. */
export const fixedPoint16 = (value: number): number => value * 0x1_0000;
