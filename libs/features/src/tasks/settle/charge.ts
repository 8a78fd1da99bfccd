import type { Micros, OutputPlan } from '#contracts';
import { LARGEST_INTEGER, type SettledFile } from '../store/result-files.js';
import type { TaskRow } from '../task-row.js';

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
 * price of the hold, so that images that failed are not charged; `as-held` is the price agreed at submission.
 */
export function chargeFor(task: TaskRow, plan: OutputPlan, files: readonly Delivered[]): Micros {
  if (task.billing_settle === 'as-held') return task.hold_micros;
  const unitMicros = task.hold_micros / BigInt(task.quantity);
  const charge = unitMicros * BigInt(deliveredQuantity(plan, files));
  return charge < task.hold_micros ? charge : task.hold_micros;
}

/** How much longer than ordered a video may be before its owner gets a notice, in seconds: encoders round up to a frame. */
const LONGER_SECONDS = 0.5;

/** The notices to the owner of a finished task whose result is not what was ordered. */
export function deliveryNotices(plan: OutputPlan, files: readonly SettledFile[]): string[] {
  const outputs = files.filter(({ role }) => role === 'output');
  const notices: string[] = [];
  if (outputs.length < plan.count)
    notices.push(`The vendor delivered ${outputs.length} of ${plan.count} files; the missing ones are not charged.`);
  if (plan.medium === 'video' && plan.lastFrame && !files.some(({ role }) => role === 'last_frame'))
    notices.push('The last frame was ordered, and the vendor did not deliver it.');
  if (plan.medium === 'video') notices.push(...lengthNotices(plan.durationSeconds, outputs));
  return notices;
}

/** About the longest video when it is longer than ordered, and about each that is so much shorter that less is charged. */
function lengthNotices(ordered: number, outputs: readonly SettledFile[]): string[] {
  const longestMs = Math.max(...outputs.map(({ durationMs }) => durationMs ?? 0));
  const isLonger = longestMs / 1000 > ordered + LONGER_SECONDS;
  const shorter = outputs.flatMap(({ durationMs }) => {
    const charged = chargedSeconds(ordered, durationMs);
    return charged < ordered && durationMs !== null ? [{ durationMs, charged }] : [];
  });
  if (longestMs === LARGEST_INTEGER)
    return [
      `The header of the video states a length of ${shown(longestMs)} s or more; ${ordered} s were ordered and are charged.`,
    ];
  return [
    ...(isLonger ? [`The video lasts ${shown(longestMs)} s; ${ordered} s were ordered and are charged.`] : []),
    ...shorter.map(
      ({ durationMs, charged }) =>
        `The video lasts ${shown(durationMs)} s; ${ordered} s were ordered and ${charged} s are charged.`,
    ),
  ];
}

const shown = (milliseconds: number): number => Math.round(milliseconds / 100) / 10;
