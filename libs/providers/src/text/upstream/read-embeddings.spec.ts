import { atBest } from '#testing';
import { readEmbeddings } from './http-embeddings.js';

const vector = `[${Array.from({ length: 3_072 }, (_, index) => `-0.0${123456789 + index}`).join(',')}]`;
const item = (index: number): string => `{"object":"embedding","index":${index},"embedding":${vector}}`;
const list = (items: number): string => `[${Array.from({ length: items }, (_, index) => item(index)).join(',')}]`;
const USAGE = { prompt_tokens: 7, total_tokens: 7 };
const layouts = (items: number): [layout: string, json: string][] => [
  ['first', `{"data":${list(items)},"model":"their-name","usage":${JSON.stringify(USAGE)}}`],
  ['last', `{"object":"list","model":"their-name","usage":${JSON.stringify(USAGE)},"data":${list(items)}}`],
];

describe("An upstream's embeddings", () => {
  it('keep the fields after the vectors', () => {
    const json = `{"data":${list(20)},"model":"their-name","also":[{"a":[1]}],"usage":${JSON.stringify(USAGE)}}`;
    expect(readEmbeddings(json, 'their-name', 'our-name').answer).toMatchObject({ also: [{ a: [1] }], usage: USAGE });
  });

  it.each(layouts(20))('are read by the fields around the vectors, which stay unchanged: %s', (_, json) => {
    const { answer, rewritten } = readEmbeddings(json, 'their-name', 'our-name');
    expect(answer).toMatchObject({ data: [], usage: USAGE });
    expect(JSON.parse(rewritten)).toEqual({ ...(JSON.parse(json) as object), model: 'our-name' });
  });

  it.each([...layouts(1), ...layouts(20)])(
    'say nothing of what the vendor charged, and lose nothing else: %s',
    (_, json) => {
      const charged = json.replace('"prompt_tokens":7', '"cost":0.1,"prompt_tokens":7,"is_byok":true');
      for (const model of ['their-name', 'our-name']) {
        const { rewritten } = readEmbeddings(charged, 'their-name', model);
        expect(JSON.parse(rewritten)).toEqual({ ...(JSON.parse(json) as object), model });
      }
    },
  );

  it('are read whole when they are short, or laid out in a way of their own', () => {
    const [, short] = layouts(1)[0] ?? ['', ''];
    const nested = `{"usage":{"of":[1]},"meta":{"data":[]},"data":${list(20)},"model":"their-name"}`;
    for (const json of [short, nested]) {
      const { answer, rewritten } = readEmbeddings(json, 'their-name', 'our-name');
      expect(answer['data']).not.toEqual([]);
      expect(JSON.parse(rewritten)).toEqual({ ...(JSON.parse(json) as object), model: 'our-name' });
    }
  });

  it('do not block the process when there are a thousand of them', async () => {
    const [, parts] = layouts(1_000)[0] ?? ['', ''];
    // One piece of memory, as it comes from the line.
    const json = Buffer.from(parts).toString('utf8');
    expect(await atBest(1_000, () => readEmbeddings(json, 'their-name', 'our-name'))).toBeLessThan(1_000);
  });

  it('are refused when they are invalid', () => {
    expect(() => readEmbeddings(`{"data":[${'1,'.repeat(200_000)}`, 'a', 'b')).toThrow('not a JSON object');
  });
});
