import type { Micros, OutputPlan } from '#contracts';
import type { SettledFile } from '../store/result-files.js';
import type { TaskRow } from '../task-row.js';

/** A delivered file as far as it is charged. */
type Delivered = Pick<SettledFile, 'role' | 'durationMs'>;

/** How much shorter than ordered a video may be and still count whole, in seconds: models end on a step, encoders on a frame. */
const SHORTER_SECONDS = 1;

/**
 * The seconds of one video that are charged: never more than were ordered, and only those that were delivered, rounded up,
 * where the vendor made a shorter one. A header that says no length says nothing of that.
 */
export function chargedSeconds(orderedSeconds: number, durationMs: number | null): number {
  const seconds = (durationMs ?? 0) / 1000;
  const isShort = seconds > 0 && seconds < orderedSeconds - SHORTER_SECONDS;
  return isShort ? Math.ceil(seconds) : orderedSeconds;
}

/** Units in what was delivered: seconds of video, or images. */
export function deliveredQuantity(plan: OutputPlan, files: readonly Delivered[]): number {
  const outputs = files.filter(({ role }) => role === 'output');
  if (plan.medium !== 'video') return outputs.length;
  return outputs.reduce((sum, { durationMs }) => sum + chargedSeconds(plan.durationSeconds, durationMs), 0);
}

/**
 * What a finished task costs, in micros; never more than was held. `per-output` counts what was delivered, at the unit
 * price of the hold (D3 section 8: failed images are not charged); `as-held` is the price agreed at submission.
 */
export function chargeFor(task: TaskRow, plan: OutputPlan, files: readonly Delivered[]): Micros {
  if (task.billing_settle === 'as-held') return task.hold_micros;
  const unitMicros = task.hold_micros / BigInt(task.quantity);
  const charge = unitMicros * BigInt(deliveredQuantity(plan, files));
  return charge < task.hold_micros ? charge : task.hold_micros;
}
