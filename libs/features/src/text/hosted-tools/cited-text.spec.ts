import type { Citation, TextEvent } from '#contracts';
import { atBest } from '#testing';
import { CitedText, Sources } from './cited-text.js';

const passage = (fileId: string) => ({
  fileId,
  filename: `${fileId}.pdf`,
  score: 1,
  text: 'words',
  attributes: {},
  start: 0,
  end: 5,
});

function twoSources(): Sources {
  const sources = new Sources();
  sources.passage(passage('a'));
  sources.passage(passage('b'));
  return sources;
}

/** The text and citations read from these pieces. */
function readIn(pieces: readonly string[]): { text: string; citations: Citation[] } {
  const cited = new CitedText(twoSources());
  const events: TextEvent[] = [...pieces.flatMap((piece) => cited.push(piece)), ...cited.end()];
  return {
    text: events.map((event) => (event.type === 'text' ? event.text : '')).join(''),
    citations: events.flatMap((event) => (event.type === 'citation' ? [event.citation] : [])),
  };
}

const cut = (text: string, at: number): string[] => [text.slice(0, at), text.slice(at)];

describe('Marks of sources in a text', () => {
  it.each([
    ['behind its point', 'One. Two is so.【1】 Three.', 'One. Two is so. Three.', ['Two is so.']],
    ['before its point', 'One. Two is so 【2】. Three.', 'One. Two is so. Three.', ['Two is so']],
    ['several', 'It is 3.5 m.【1】【2】', 'It is 3.5 m.', ['It is 3.5 m.', 'It is 3.5 m.']],
    ['several in one', 'So it is 【1, 2】', 'So it is', ['So it is', 'So it is']],
    ['with a name', 'So it is【1†a.pdf】!', 'So it is!', ['So it is']],
    ['in Chinese', '今天很冷。明天下雪【2】。', '今天很冷。明天下雪。', ['明天下雪']],
    ['of no source', 'See 【9】 and 【注意】.', 'See 【9】 and 【注意】.', []],
    ['that never ends', 'It costs 【1', 'It costs 【1', []],
  ])('are removed and returned as citations: %s, wherever the text is cut', (_what, sent, text, stretches) => {
    for (let at = 0; at <= sent.length; at += 1) {
      const read = readIn(cut(sent, at));
      expect([at, read.text]).toEqual([at, text]);
      expect(read.citations.map((citation) => citation.text)).toEqual(stretches);
      for (const { start, end, text: words } of read.citations) expect(read.text.slice(start, end)).toBe(words);
    }
    expect(readIn(Array.from(sent)).text).toBe(text);
  });

  it.each([
    ['brackets', '【'],
    ['numbers of no source', '【7】'],
    ['words', 'word'],
    ['spaces', '    '],
    ['closing signs', `.'`],
    ['marks', '【1】'],
  ])('take time and room that grow with the text alone, at once and in pieces: %s', async (_what, piece) => {
    const count = 10_000;
    const busyMs = await atBest(1_300, () => {
      for (const pieces of [[piece.repeat(count)], Array.from({ length: count }, () => piece)]) {
        const { text, citations } = readIn([`${'x'.repeat(100_000)} `, ...pieces, ' end']);
        const marks = piece === '【1】' ? count : 0;
        // Marks are taken out, with the space in front of them.
        expect(text.length).toBe(100_004 + (marks > 0 ? 0 : piece.length * count + 1));
        expect(citations).toHaveLength(marks);
        expect(citations.filter((citation) => citation.text.length > 2_000)).toEqual([]);
      }
    });
    // A time that grows with the square is 1.5 to 8 seconds.
    expect(busyMs).toBeLessThan(1_300);
  });

  it('name the source that has the number', () => {
    const [first] = readIn(['Two is so.【2】']).citations;
    expect(first).toMatchObject({ index: 1, source: { kind: 'passage', passage: { fileId: 'b' } } });
  });
});
