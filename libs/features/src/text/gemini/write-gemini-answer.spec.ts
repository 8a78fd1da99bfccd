import type { JsonObject } from '#contracts';
import { atBest } from '#testing';
import { Grounding } from './write-gemini-answer.js';

const SOURCE = { kind: 'page', page: { url: 'https://a.test/x', title: 'A', text: '' } } as const;
const at = (start: number, end: number) => ({ start, end, text: 'x', index: 0, source: SOURCE });

function segmentsOf(grounding: Grounding): unknown[] {
  const { groundingSupports } = grounding.metadata() as { groundingSupports: { segment: JsonObject }[] };
  return groundingSupports.map(({ segment: { startIndex, endIndex } }) => [startIndex, endIndex]);
}

describe('Citations in the form of the gemini style', () => {
  it('count bytes from the beginning of the part, in any order of their places', () => {
    const grounding = new Grounding();
    const block = 'Über 3 m. Später 4 m.';
    grounding.citation(at(0, 9), 'é ', block, 0);
    grounding.citation(at(10, 21), 'é ', block, 0);
    grounding.citation(at(0, 4), 'é ', block, 0);
    grounding.citation(at(0, 4), '', block, 1);
    expect(segmentsOf(grounding)).toEqual([
      [3, 13],
      [14, 26],
      [3, 8],
      [0, 5],
    ]);
  });

  it('take a time that grows with the text alone, however many there are', async () => {
    const block = 'Größe. '.repeat(40_000);
    const busyMs = await atBest(1_500, () => {
      const grounding = new Grounding();
      for (let place = 0; place < block.length; place += 7) grounding.citation(at(place, place + 6), '', block, 0);
      expect(segmentsOf(grounding)).toHaveLength(40_000);
    });
    // Counted from the beginning each time it takes some seconds.
    expect(busyMs).toBeLessThan(1_500);
  });
});
