import { eventually } from './eventually.js';

describe('eventually', () => {
  it('answers what was found as soon as it is there, zero and empty text included', async () => {
    let asked = 0;
    expect(await eventually(() => (++asked < 3 ? undefined : 0), { pauseMs: 1 })).toBe(0);
    expect(asked).toBe(3);
    expect(await eventually(async () => '')).toBe('');
  });

  it('names the condition that did not become true in time', async () => {
    const heard: string[] = [];
    const waiting = eventually(() => heard.length > 0, { limitMs: 5, pauseMs: 1 });
    await expect(waiting).rejects.toThrow(/^not within 5 ms: .*heard\.length > 0/);
  });

  it('ends at once with what the condition throws', async () => {
    await expect(eventually(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });
});
