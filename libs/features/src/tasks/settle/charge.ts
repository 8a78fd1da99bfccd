import type { Micros, OutputPlan } from '#contracts';
import type { TaskRow } from '../task-row.js';

/** Units in what was delivered: seconds of video, or images. */
export const deliveredQuantity = (plan: OutputPlan, delivered: number): number =>
  plan.medium === 'video' ? plan.durationSeconds * delivered : delivered;

/**
 * What a finished task costs, in micros; never more than was held. `per-output` counts what was delivered, at the unit
 * price of the hold (D3 section 8: failed images are not charged); `as-held` is the price agreed at submission.
 */
export function chargeFor(task: TaskRow, plan: OutputPlan, delivered: number): Micros {
  if (task.billing_settle === 'as-held') return task.hold_micros;
  const unitMicros = task.hold_micros / BigInt(task.quantity);
  const charge = unitMicros * BigInt(deliveredQuantity(plan, delivered));
  return charge < task.hold_micros ? charge : task.hold_micros;
}
