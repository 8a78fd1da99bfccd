import { Canvas, wrapText } from './canvas.js';
import { strokesOf } from './font.js';

describe('wrapText', () => {
  it('breaks at the cell limit and loses nothing', () => {
    expect(wrapText('abcdefgh', 3, 9)).toEqual(['abc', 'def', 'gh']);
  });

  it('counts characters beyond ASCII as two cells', () => {
    expect(wrapText('屋顶abc', 4, 9)).toEqual(['屋顶', 'abc']);
  });

  it('never splits a character of two code units', () => {
    expect(wrapText('😀😀', 2, 9)).toEqual(['😀', '😀']);
  });

  it('ends the last line in a tilde when lines are missing', () => {
    expect(wrapText('abcdefgh', 3, 2)).toEqual(['abc', 'de~']);
  });

  it('shows control characters as spaces', () => {
    expect(wrapText('a\r\nb', 9, 9)).toEqual(['a b']);
  });

  it('gives nothing for no text and for no lines', () => {
    expect(wrapText('', 9, 9)).toEqual([]);
    expect(wrapText('abc', 9, 0)).toEqual([]);
    expect(wrapText('abcdef', 3, 0)).toEqual([]);
  });
});

describe('Canvas', () => {
  it('leaves out what lies outside', () => {
    const canvas = new Canvas(4, 2);
    canvas.ink([0, 0, 0]);
    const ink = canvas.ink([255, 255, 255]);
    canvas.paint({ x: -2, y: -1, width: 4, height: 2 }, ink);
    canvas.paint({ x: 9, y: 0, width: 4, height: 2 }, ink);
    expect([...canvas.pixels]).toEqual([1, 1, 0, 0, 0, 0, 0, 0]);
  });

  it('refuses a 257th colour instead of showing a wrong one', () => {
    const canvas = new Canvas(1, 1);
    for (let red = 0; red < 256; red++) canvas.ink([red, 0, 0]);
    expect(canvas.ink([255, 0, 0])).toBe(255);
    expect(() => canvas.ink([0, 1, 0])).toThrow('at most 256 colours');
  });

  it('draws different boxes for different characters beyond ASCII', () => {
    expect(strokesOf('屋')).not.toEqual(strokesOf('顶'));
    expect(strokesOf('😀')).not.toEqual(strokesOf('😁'));
    for (const { x, y, width } of strokesOf('😀')) {
      expect(x + width).toBeLessThanOrEqual(16);
      expect(y).toBeLessThan(16);
    }
  });
});
