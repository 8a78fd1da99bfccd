import type { OutputPlan } from '#contracts';
import { chargedSeconds } from '../settle/charge.js';
import { LARGEST_INTEGER, type SettledFile } from '../../media-upstreams/result-files.js';

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
