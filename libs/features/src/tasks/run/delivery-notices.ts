import type { OutputPlan } from '#contracts';
import type { SettledFile } from './result-files.js';

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
  if (plan.medium === 'video') {
    const longestSeconds = Math.max(...outputs.map(({ durationMs }) => (durationMs ?? 0) / 1000));
    if (longestSeconds > plan.durationSeconds + LONGER_SECONDS)
      notices.push(
        `The video lasts ${Math.round(longestSeconds * 10) / 10} s; ${plan.durationSeconds} s were ordered and are charged.`,
      );
  }
  return notices;
}
