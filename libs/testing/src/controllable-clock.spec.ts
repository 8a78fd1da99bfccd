import { ControllableClock } from './controllable-clock.js';

describe('ControllableClock', () => {
  it('wakes sleepers in the order of their time, and only when it has come', async () => {
    const clock = new ControllableClock();
    const woken: string[] = [];
    const late = clock.sleep(2_000).then(() => woken.push('late'));
    const early = clock.sleep(1_000).then(() => woken.push('early'));
    clock.advance(999);
    await Promise.resolve();
    expect(woken).toEqual([]);
    clock.advance(1_001);
    await Promise.all([late, early]);
    expect(woken).toEqual(['early', 'late']);
    expect(clock.now()).toEqual(new Date(Date.UTC(2026, 0, 1) + 2_000));
  });

  it('ends a sleep when its signal aborts', async () => {
    const controller = new AbortController();
    const sleep = new ControllableClock().sleep(1_000, controller.signal);
    controller.abort(new Error('stop'));
    await expect(sleep).rejects.toThrow('stop');
  });
});
