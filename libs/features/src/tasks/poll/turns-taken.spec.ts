import { TurnsTaken } from './turns-taken.js';

const REACHED = new Date('2026-11-21T12:00:10.000Z');

describe('How far the turns of a vendor were taken', () => {
  let nowMs: number;
  let taken: TurnsTaken;
  beforeEach(() => {
    nowMs = 0;
    taken = new TurnsTaken(() => nowMs);
  });

  it('looks for every turn as long as none was taken', () => {
    expect([taken.lookFrom(), taken.lookFrom()]).toEqual(['-infinity', '-infinity']);
  });

  it('looks no further back than a second behind the last turn taken', () => {
    taken.lookFrom();
    taken.reached(REACHED);
    expect(taken.lookFrom()).toEqual(new Date('2026-11-21T12:00:09.000Z'));
  });

  it('looks for every turn again each five seconds', () => {
    taken.lookFrom();
    taken.reached(REACHED);
    nowMs = 5_000;
    expect(taken.lookFrom()).toBe('-infinity');
    expect(taken.lookFrom()).not.toBe('-infinity');
  });
});
