import { nextTurn } from '#platform';
import { SerializedBody } from './serialized-body.js';

const VALUE = { code: 200, data: [{ text: 'all words '.repeat(1_600_000) }] };

describe('The body of an answer that may be long', () => {
  it('is written with other work in between, and is the same as when it is written at once', async () => {
    const others = { turns: 0, areOver: false };
    const working = (async () => {
      for (; !others.areOver; others.turns += 1) await nextTurn();
    })();
    const body = await SerializedBody.longJson(VALUE);
    others.areOver = true;
    await working;
    expect(others.turns).toBeGreaterThan(2);
    const atOnce = SerializedBody.json(VALUE);
    expect([body.text === atOnce.text, body.bytes]).toEqual([true, atOnce.bytes]);
  });
});
