import { setImmediate as nextTurn } from 'node:timers/promises';
import { ControllableClock } from '#testing';
import { Settlements } from './settlements.js';

/** A ledger that cannot be reached the first times. */
function ledgerAwayFor(tries: number): { settle: () => Promise<void>; tried: () => number; settled: () => boolean } {
  let tried = 0;
  return {
    settle: async () => {
      tried += 1;
      if (tried <= tries) throw new Error('the database is away');
    },
    tried: () => tried,
    settled: () => tried > tries,
  };
}

describe('A settlement', () => {
  it('that fails is retried with growing delays until it succeeds', async () => {
    const clock = new ControllableClock();
    const settlements = new Settlements(clock);
    const ledger = ledgerAwayFor(3);
    settlements.add('req_1', ledger.settle);
    await nextTurn();
    expect(ledger.tried()).toBe(1);
    for (const pauseMs of [100, 500, 2_500]) {
      clock.advance(pauseMs);
      await nextTurn();
    }
    expect(ledger.settled()).toBe(true);
    clock.advance(600_000);
    await settlements.drain();
    expect(ledger.tried()).toBe(4);
  });

  it('is made within seconds of the return of a ledger that was away for half an hour', async () => {
    const clock = new ControllableClock();
    const settlements = new Settlements(clock);
    let isBack = false;
    const settled: string[] = [];
    settlements.add('req_1', async () => {
      if (!isBack) throw new Error('the database is away');
      settled.push('req_1');
    });
    for (let second = 0; second < 30 * 60; second += 1) {
      await nextTurn();
      clock.advance(1_000);
    }
    isBack = true;
    for (let second = 0; second < 10 && settled.length === 0; second += 1) {
      await nextTurn();
      clock.advance(1_000);
    }
    expect(settled).toEqual(['req_1']);
  });

  it('that never succeeds is given up before its hold is over and affects no other', async () => {
    const clock = new ControllableClock();
    const settlements = new Settlements(clock);
    const ledger = ledgerAwayFor(Number.POSITIVE_INFINITY);
    settlements.add('req_1', ledger.settle);
    const passMinutes = async (minutes: number): Promise<void> => {
      for (let minute = 0; minute < minutes; minute += 1) {
        await nextTurn();
        clock.advance(60_000);
      }
    };
    await passMinutes(40);
    expect(ledger.tried()).toBe(40);
    await passMinutes(15);
    const tried = ledger.tried();
    await passMinutes(15);
    await settlements.drain();
    expect([tried < 60, ledger.tried()]).toEqual([true, tried]);
  });

  it('is tried a last time, without a pause, when the process stops', async () => {
    const settlements = new Settlements(new ControllableClock());
    const [back, gone] = [ledgerAwayFor(1), ledgerAwayFor(9)];
    settlements.add('req_1', back.settle);
    settlements.add('req_2', gone.settle);
    await nextTurn();
    await settlements.drain();
    expect([back.settled(), gone.tried()]).toEqual([true, 2]);
  });
});
