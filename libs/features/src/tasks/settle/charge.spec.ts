import type { OutputPlan } from '#contracts';
import type { TaskRow } from '../task-row.js';
import { chargeFor, deliveredQuantity } from './charge.js';

const size = { kind: 'fixed', width: 1, height: 1 } as const;
const plan = (count: number): OutputPlan => ({
  medium: 'video',
  count,
  size,
  durationSeconds: 5,
  audio: false,
  lastFrame: false,
  watermark: false,
});
const videos = (...seconds: (number | null)[]) =>
  seconds.map((each) => ({ role: 'output', durationMs: each === null ? null : each * 1000 }) as const);

describe('The charge of a video', () => {
  it.each<[what: string, seconds: (number | null)[], quantity: number]>([
    ['is of what was ordered when it lasts as long', [5], 5],
    ['is of no more when it lasts longer', [12], 5],
    ['is of what was ordered when it ends within a second of that', [4], 5],
    ['is of what was delivered, in whole seconds, when it is shorter than that', [2.2], 3],
    ['is of each by itself', [5, 1], 6],
    ['is of what was ordered when its length is not known', [null], 5],
    ['is of what was ordered when its header says no length', [0], 5],
  ])('%s', (_, seconds, quantity) => {
    const task = {
      billing_settle: 'per-output',
      hold_micros: BigInt(seconds.length * 500),
      quantity: seconds.length * 5,
    };
    const delivered = videos(...seconds);
    expect(deliveredQuantity(plan(seconds.length), delivered)).toBe(quantity);
    expect(chargeFor(task as TaskRow, plan(seconds.length), delivered)).toBe(BigInt(quantity * 100));
  });
});
