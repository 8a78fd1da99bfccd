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

  it.each([
    [[], [], 'tool_choice demands a call, and the request offers no tool: add one, or leave the demand out.'],
    [
      ['a'],
      ['b'],
      'tool_choice names a function that the request does not offer: add it to the tools, or name another.',
    ],
  ])('of %j must hold what is demanded, and the refusal says what to do: %j', (offered, names, publicMessage) => {
    const tools = offered.map((name) => ({ name }));
    expect(() => offeredTools({ tools, toolChoice: { mode: 'required', names } }, [])).toThrow(
      expect.objectContaining({ code: 'unsupported_parameter', param: 'tool_choice', publicMessage }),
    );
  });
});
