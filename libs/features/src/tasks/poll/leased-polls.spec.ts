import { type HeldPoll, LeasedPolls } from './upstream-poller.js';

const held = (taskId: string, heldUntilMs: number): HeldPoll => ({
  poll: { taskId, upstreamId: 'sandbox', operation: {}, claims: 9, cancelRequested: false },
  polls: 1,
  heldUntilMs,
});
const idsOf = (polls: readonly HeldPoll[]): string[] => polls.map(({ poll }) => poll.taskId);

describe('LeasedPolls', () => {
  let polls: LeasedPolls;
  beforeEach(() => {
    polls = new LeasedPolls();
    for (const number of [3, 1, 2]) polls.keep(held(`task_${number}`, 1_000 + number), number * 100);
  });

  it('returns due polls once, the earliest first, and no more than requested', () => {
    expect(polls.takeDue(99, 10)).toEqual([]);
    expect(idsOf(polls.takeDue(300, 2))).toEqual(['task_1', 'task_2']);
    polls.keep(held('task_4', 2_000), 250);
    expect(idsOf(polls.takeDue(300, 10))).toEqual(['task_4', 'task_3']);
    expect(polls.takeDue(900, 10)).toEqual([]);
  });

  it('gives out together what is due together, bit by bit when little is wanted', () => {
    for (const letter of ['a', 'b', 'c']) polls.keep(held(letter, 2_000), 50);
    expect(idsOf(polls.takeDue(60, 2))).toEqual(['a', 'b']);
    expect(idsOf(polls.takeDue(60, 2))).toEqual(['c']);
  });

  it('keeps nothing for a time at which the schedule lets others poll', () => {
    expect(polls.keep(held('task_4', 500), 500)).toBe(false);
    expect(polls.keep(held('task_5', 501), 500)).toBe(true);
    expect(idsOf(polls.takeDue(500, 10))).toEqual(['task_1', 'task_2', 'task_3', 'task_5']);
  });

  it('leaves to the schedule what waited for too long', () => {
    expect(idsOf(polls.takeDue(1_002, 10))).toEqual(['task_3']);
  });

  it('says what it still held when it lets go', () => {
    polls.takeDue(100, 1);
    expect(polls.release(1_002).map(({ taskId }) => taskId)).toEqual(['task_3']);
    expect(polls.release(1_002)).toEqual([]);
  });
});
