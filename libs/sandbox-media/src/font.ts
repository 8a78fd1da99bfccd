/** The size of a glyph's cell in pixels at scale 1. */
export const GLYPH_WIDTH = 8;
export const GLYPH_HEIGHT = 16;

/**
 * The printable ASCII characters, space to tilde, one line each: sixteen rows of eight pixels, a row in two hex digits.
 * Rasterised from DejaVu Sans Mono (changes are in the public domain; Bitstream Vera glyphs are copyright 2003 Bitstream,
 * Inc., under the Bitstream Vera licence, which permits use, change and redistribution free of charge).
 */
const GLYPHS = `
00000000000000000000000000000000
00000000181818181818001818000000
000000003c3c3c2c0000000000000000
000000001e1636ff3c2cfe6878000000
00000018183e7e787c1e1e5e7e181800
00000000f0d8d8f73cee1b1b0e000000
000000003c6460707bdbcfe67f000000
00000000181818180000000000000000
0000000c1818183030301818180c0000
00000030101818181818181810300000
00000000187e3c7c5e18000000000000
0000000000181818ff18181800000000
00000000000000000000001818183000
0000000000000000003c000000000000
00000000000000000000001818000000
0000000006060c0c1818303060604000
000000003c6e667efe66666e3c000000
0000000078781818181818187e000000
000000007c6e06060c1830607e000000
000000007c6e063e0c06066e7c000000
000000000c1c3c3c6cccff0c0c000000
000000007c60607c7e06064e7c000000
000000003e74607ce66666663c000000
000000007e060c0c0c18183030000000
000000007c6666667c66e6667e000000
000000007c6e46466e7e064e7c000000
00000000000018180000001818000000
00000000000000181800001818183000
000000000000073ef8f03e0700000000
0000000000000000ff00ff0000000000
000000000000e0781e0f7ce000000000
000000007c6e060c1818181818000000
000000003e66c3dff3f3f3dfc0703e00
00000000183c3c3c6e667ec6c3000000
000000007c6666667c6e63667e000000
000000003e766060606060763e000000
000000007c6e66666666666e7c000000
000000007e6060607e6060607e000000
000000007e6060607e60606060000000
000000003e7660c0cec666763e000000
00000000666666667e66666666000000
000000007e181818181818187e000000
000000003c0c0c0c0c0c0cccfc000000
00000000676e7c78787c6c6667000000
0000000060606060606060607f000000
00000000e7e7ffffdbdbc3c3c3000000
00000000667676765e5e4e4e46000000
000000003c6e66c6c6c6666e3c000000
000000007e6667667e60606060000000
000000003c6e66c6c6c6666e3c0e0400
000000007c6e66667c6c666663000000
000000007e6660703c0606667c000000
00000000ff1818181818181818000000
0000000066666666666666667c000000
00000000c3c66666643c3c3c18000000
00000000c3c3dbdbfafe7e6e66000000
00000000e7663c3c183c7e66c3000000
00000000c3666c3c1818181818000000
000000007f060e0c183030607f000000
0000001c1010101010101010101c0000
00000000c06060303018180c0c060600
00000038181818181818181818380000
000000183c6ee6000000000000000000
000000000000000000000000000000ff
00002030180000000000000000000000
0000000000007c66067e66667e000000
0000006060607c76666666767c000000
0000000000003e72606060723e000000
0000000606067e6e66c646663e000000
0000000000003c6666fe40663e000000
0000001e18187e181818181818000000
0000000000003e6e66c6666e3e066e7c
0000006060607c766666666666000000
0000001818007818181818187e000000
00000018080078181818181818181878
000000606060666c78786c6667000000
0000007010101010101010181e000000
000000000000fedadbdbdbdbdb000000
0000000000007c666666666666000000
0000000000003c66666666663c000000
0000000000007c66666666767c606060
0000000000003e6e6666666e3e060606
0000000000003f383030303030000000
0000000000003c64703c06667c000000
000000003030fe30303030301e000000
0000000000006666666666663e000000
000000000000c666662c3c3c18000000
000000000000c3c3dbda7e7e66000000
000000000000667c3c183c6ee6000000
000000000000c266663c3c3c18183070
0000000000007e0e0c1830607e000000
0000001e181818187018181818180e00
00000018181818181818181818181818
00000070181818180e18181818187000
00000000000000007bfe000000000000
`
  .trim()
  .split('\n')
  .map((rows) => Uint8Array.from(rows.match(/../g) ?? [], (row) => Number.parseInt(row, 16)));

/** The sixteen hexadecimal digits as five rows of three pixels, a row in one octal digit. */
const HEX_DIGITS = [
  0o75557, 0o26227, 0o71747, 0o71717, 0o55711, 0o74717, 0o74757, 0o71111, 0o75757, 0o75717, 0o25755, 0o65656, 0o34443,
  0o65556, 0o74647, 0o74644,
];

/** A rectangle of pixels to set, relative to the top left corner of a character. */
export interface Stroke {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const strokesOfCharacter = new Map<string, readonly Stroke[]>();

/** How many cells wide a character is: 1 for printable ASCII, 2 for all others. */
export function cellsOf(character: string): 1 | 2 {
  return isPrintableAscii(character) ? 1 : 2;
}

/**
 * What to draw for a character at scale 1. There is no font for the world's scripts here, so any character beyond ASCII is
 * a box two cells wide that holds its code point in hexadecimal, as readable as it is exact.
 */
export function strokesOf(character: string): readonly Stroke[] {
  let strokes = strokesOfCharacter.get(character);
  if (!strokes) {
    strokes = isPrintableAscii(character) ? asciiStrokes(character) : codePointBox(character);
    strokesOfCharacter.set(character, strokes);
  }
  return strokes;
}

function isPrintableAscii(character: string): boolean {
  return character >= ' ' && character <= '~';
}

function asciiStrokes(character: string): Stroke[] {
  const rows = GLYPHS[character.charCodeAt(0) - 32] ?? new Uint8Array(GLYPH_HEIGHT);
  return Array.from(rows).flatMap((row, y) => runsOf(row, GLYPH_WIDTH, 0, y));
}

function codePointBox(character: string): Stroke[] {
  const digits = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
  const perRow = Math.ceil(digits.length / 2);
  const left = perRow === 2 ? 4 : 2;
  const frame: Stroke[] = [
    { x: 1, y: 1, width: 14, height: 1 },
    { x: 1, y: 14, width: 14, height: 1 },
    { x: 1, y: 2, width: 1, height: 12 },
    { x: 14, y: 2, width: 1, height: 12 },
  ];
  const text = Array.from(digits).flatMap((digit, position) => {
    const pixels = HEX_DIGITS[Number.parseInt(digit, 16)] ?? 0;
    const x = left + (position % perRow) * (perRow === 2 ? 5 : 4);
    const y = 3 + Math.floor(position / perRow) * 6;
    return [0, 1, 2, 3, 4].flatMap((row) => runsOf((pixels >> ((4 - row) * 3)) & 0o7, 3, x, y + row));
  });
  return [...frame, ...text];
}

/** Joins neighbouring set bits of a row, so that a glyph takes few fills. */
function runsOf(bits: number, width: number, x: number, y: number): Stroke[] {
  const runs: Stroke[] = [];
  for (let start = 0; start < width; start++) {
    let end = start;
    while (end < width && (bits >> (width - 1 - end)) & 1) end++;
    if (end > start) runs.push({ x: x + start, y, width: end - start, height: 1 });
    start = end;
  }
  return runs;
}
