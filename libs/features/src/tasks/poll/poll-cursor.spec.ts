import { PollCursor } from './poll-schedule.js';

const REACHED = new Date('2026-11-21T12:00:10.000Z');

describe('How far the turns of a vendor were taken', () => {
  let nowMs: number;
  let taken: PollCursor;
  beforeEach(() => {
    nowMs = 0;
    taken = new PollCursor(() => nowMs);
  });

  it('looks for every turn as long as none was taken', () => {
    expect([taken.searchFrom(), taken.searchFrom()]).toEqual(['-infinity', '-infinity']);
  });

  it('looks no further back than a second behind the last turn taken', () => {
    taken.searchFrom();
    taken.reached(REACHED);
    expect(taken.searchFrom()).toEqual(new Date('2026-11-21T12:00:09.000Z'));
  });

  it('looks for every turn again each five seconds', () => {
    taken.searchFrom();
    taken.reached(REACHED);
    nowMs = 5_000;
    expect(taken.searchFrom()).toBe('-infinity');
    expect(taken.searchFrom()).not.toBe('-infinity');
  });

  it('searches without a rest for ten seconds after it knew of a poll, then once a second', () => {
    const searches = (seconds: number): number => {
      let count = 0;
      for (const endMs = nowMs + seconds * 1_000; nowMs < endMs; nowMs += 100) {
        if (taken.isResting) continue;
        taken.searchFrom();
        count += 1;
      }
      return count;
    };
    expect([searches(10), searches(30)]).toEqual([100, 30]);
    taken.expectPoll();
    expect([searches(10), searches(5)]).toEqual([100, 5]);
    taken.reached(REACHED);
    expect(searches(10)).toBe(100);
  });
});
