import { nextTurn, Turns } from '#platform';

/** How much is decoded at once, in characters: whole groups of four. */
const PIECE_CHARACTERS = 256 * 1024;

const NO_DIGIT = /[^A-Za-z0-9+/_-]/g;

/**
 * Decodes base64 a piece at a time, while other work runs in between: 20 MB at once block all other work for some 25 ms.
 * Both alphabets are read, and whatever belongs to neither is skipped.
 *
 * @param from where it begins in the text.
 */
export async function decodedBase64(text: string, from = 0): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(Math.ceil(((text.length - from) * 3) / 4));
  const turns = new Turns();
  if (text.length - from > PIECE_CHARACTERS) await nextTurn(turns);
  let length = 0;
  let digits = '';
  for (let at = from; at < text.length; at += PIECE_CHARACTERS) {
    digits += text.slice(at, at + PIECE_CHARACTERS).replaceAll(NO_DIGIT, '');
    const groups = digits.length - (digits.length % 4);
    length += whole.write(digits.slice(0, groups), length, 'base64');
    digits = digits.slice(groups);
    if (turns.isOver) await nextTurn(turns);
  }
  length += whole.write(digits, length, 'base64');
  return whole.subarray(0, length);
}
