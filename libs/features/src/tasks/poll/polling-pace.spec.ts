import { busyPauseMs, ownDelayMs, POLLING } from './upstream-poller.js';

describe('the pace of polling', () => {
  const poll = { taskId: 't', upstreamId: 'u', operation: {}, claims: 1, cancelRequested: false };
  const delays = (polls: number, leastMs: number): number[] =>
    Array.from({ length: 200 }, () => ownDelayMs({ poll, polls, heldUntilMs: 0 }, leastMs));

  it.each([0, 500, 1_000, 1_500, 10_000])(
    'never asks an upstream sooner than every %d ms, give or take a tenth',
    (ms) => {
      for (const polls of [0, 3, 50]) expect(Math.min(...delays(polls, ms))).toBeGreaterThanOrEqual(ms * 0.9);
    },
  );

  it('leaves a busy vendor alone for twice as long each time, up to a minute', () => {
    const pauses = Array.from({ length: 12 }, (_, inARow) => busyPauseMs(inARow));
    for (const [index, pauseMs] of pauses.entries()) {
      const expected = Math.min(POLLING.busyMs.longest, POLLING.busyMs.first * 2 ** index);
      expect(pauseMs).toBeGreaterThanOrEqual(expected * 0.75);
      expect(pauseMs).toBeLessThanOrEqual(expected * 1.25);
    }
    expect(busyPauseMs(10_000)).toBeLessThanOrEqual(POLLING.busyMs.longest * 1.25);
  });

  it('asks the other gateway often enough for finished work to be visible within two seconds', () => {
    expect(Math.max(...delays(50, 1_000))).toBeLessThanOrEqual(POLLING.steadyDelayMs * 1.1);
  });
});
