/** Bodies of fewer bytes are searched as one text: each search of bytes costs more than ten searches of a text that short. */
const SEARCHED_AS_TEXT_BYTES = 4 * 1024;

/** Pieces of ASCII text that show, cheaply, what the bytes of a body may hold. */
export class ByteMatcher {
  private readonly asText: readonly string[];
  private readonly asBytes: readonly Buffer[];

  constructor(signs: readonly string[]) {
    this.asText = signs;
    this.asBytes = signs.map((sign) => Buffer.from(sign, 'latin1'));
  }

  /** Whether one of them stands in these bytes. */
  standIn(bytes: Buffer): boolean {
    if (bytes.length > SEARCHED_AS_TEXT_BYTES) return this.asBytes.some((sign) => bytes.includes(sign));
    const text = bytes.toString('latin1');
    return this.asText.some((sign) => text.includes(sign));
  }
}

/** The same memory: nothing is copied. */
export const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
