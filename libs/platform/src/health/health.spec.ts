import { eventually, skewClock } from '#testing';
import { Health } from './health.js';

const fit = { part: 'database', isNeeded: true, check: async () => null };

describe('The health of a process', () => {
  it('is ready when every part is healthy, and reports its version', async () => {
    const readiness = await new Health([fit]).ready();
    expect(readiness).toEqual({
      status: 'ready',
      reasons: [],
      version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
      parts: { database: { ok: true }, process: { ok: true } },
    });
  });

  it('names each unhealthy part and why, whether it reports or throws', async () => {
    const health = new Health([
      fit,
      { part: 'queue', isNeeded: true, check: async () => 'the queue takes no work' },
      { part: 'store', isNeeded: true, check: () => Promise.reject(new Error('secret-host:9000 refused')) },
    ]);
    expect(await health.ready()).toMatchObject({
      status: 'not_ready',
      parts: {
        database: { ok: true },
        queue: { ok: false, reason: 'the queue takes no work' },
        store: { ok: false, reason: 'the check failed; the log of the process says why' },
      },
    });
  });

  it('continues without optional parts, and names the fault', async () => {
    const queue = { part: 'queue', isNeeded: false, check: async () => 'the queue takes no work' };
    expect(await new Health([fit, queue]).ready()).toMatchObject({
      status: 'degraded',
      reasons: ['queue: the queue takes no work'],
      parts: { database: { ok: true }, queue: { ok: false } },
    });
  });

  it('responds within the limit although a part hangs', async () => {
    const health = new Health([{ part: 'store', isNeeded: true, check: () => new Promise(() => undefined) }]);
    expect(await health.ready()).toMatchObject({ parts: { store: { ok: false, reason: 'no answer within 2 s' } } });
  });

  it('is asked for again although the time of day was set back by an hour', async () => {
    let reason: string | null = 'away';
    const health = new Health([{ part: 'database', isNeeded: true, check: async () => reason }]);
    expect((await health.ready()).status).toBe('not_ready');
    const setRight = skewClock(-3_600_000);
    try {
      reason = null;
      await eventually(async () => (await health.ready()).status === 'ready');
    } finally {
      setRight();
    }
  });

  it('is not ready while it starts, and asks again once it has', async () => {
    const health = new Health([fit]);
    health.starting();
    expect(await health.ready()).toMatchObject({
      status: 'not_ready',
      reasons: ['process: the process is starting'],
    });
    health.started();
    expect((await health.ready()).status).toBe('ready');
  });

  it('runs a check added since, even right after the last round', async () => {
    const health = new Health([fit]);
    await health.ready();
    health.add({ part: 'prices', isNeeded: false, check: async () => 'none' });
    expect(await health.ready()).toMatchObject({ status: 'degraded', reasons: ['prices: none'] });
  });

  it('is not ready from the moment it drains, while it stays alive', async () => {
    const health = new Health([fit]);
    expect((await health.ready()).status).toBe('ready');
    health.drain();
    expect(await health.ready()).toMatchObject({
      status: 'not_ready',
      parts: { database: { ok: true }, process: { ok: false, reason: 'the process is shutting down' } },
    });
    expect(health.alive().status).toBe('alive');
  });

  it('checks the parts once for concurrent requests', async () => {
    let asked = 0;
    const health = new Health([{ part: 'database', isNeeded: true, check: async () => ((asked += 1), null) }]);
    await Promise.all(Array.from({ length: 50 }, () => health.ready()));
    expect(asked).toBe(1);
  });
});
