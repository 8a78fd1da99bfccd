import { atBest } from '#testing';
import { offeredTools } from './request-fields.js';

/** What it may take, in milliseconds of the processor. */
const ENOUGH_MS = 200;

describe('The choice among the functions of a request', () => {
  it('takes a moment, however many there are and are named', async () => {
    const tools = Array.from({ length: 25_000 }, (_, nth) => ({ name: `n${nth}` }));
    const names = Array.from({ length: 60_000 }, (_, nth) => `n${24_999 - (nth % 25_000)}`);
    const choose = () => offeredTools({ tools, toolChoice: { mode: 'required', names } }, []);
    expect(choose()).toHaveLength(tools.length);
    expect(await atBest(ENOUGH_MS, choose)).toBeLessThan(ENOUGH_MS);
  });
});
