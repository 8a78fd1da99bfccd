import {
  alternatives,
  type MediaLimits,
  type MediaReference,
  type MeasuredReference,
  type TotalSecondsLimit,
} from '#contracts';
import type { MediaHeader } from '../inspect/media-header.js';

/**
 * How far a length may lie outside its bounds, in seconds: containers round to whole frames, so a clip cut to 15 s
 * often says 15.02 s.
 */
export const LENGTH_TOLERANCE_SECONDS = 0.1;

/** What a reference should hold, as a noun: `image`. */
export const nounOf = (medium: MediaReference['medium']): string => (medium === 'audio' ? 'audio file' : medium);

/** A number of bytes as the documents count them, in MB of 1,048,576 bytes with at most one decimal: `20 MB`. */
export const megabytes = (bytes: number): string => `${Math.round((bytes / 1_048_576) * 10) / 10} MB`;

/** The first rule that a measured file breaks, as a sentence, or nothing. */
export function brokenRule(header: MediaHeader, limits: MediaLimits): string | undefined {
  const noun = nounOf(header.medium);
  if (!limits.formats.includes(header.format))
    return `the file is ${header.format}; it must be ${alternatives(limits.formats)}.`;
  return (
    (header.medium === 'audio' ? undefined : brokenSizeRule(header, noun, limits)) ??
    (header.medium === 'image' ? undefined : brokenLengthRule(header.durationSeconds, noun, limits))
  );
}

/** Each bound on the image size: what is measured, which way it is bounded, and how the rule is worded. */
function brokenSizeRule(
  { width, height }: { width: number; height: number },
  noun: string,
  limits: MediaLimits,
): string | undefined {
  const [shorter, longer] = [Math.min(width, height), Math.max(width, height)];
  const bounds: readonly (readonly [broken: boolean, rule: string])[] = [
    [shorter < (limits.minSidePixels ?? 0), `each side must be at least ${limits.minSidePixels}`],
    [longer > (limits.maxSidePixels ?? Infinity), `each side must be at most ${limits.maxSidePixels}`],
    [shorter < (limits.minShortSidePixels ?? 0), `its shorter side must be at least ${limits.minShortSidePixels}`],
    [
      shorter > (limits.maxShortSidePixels ?? Infinity),
      `its shorter side must be at most ${limits.maxShortSidePixels}`,
    ],
    [width * height > (limits.maxPixels ?? Infinity), `it may have at most ${limits.maxPixels} pixels in all`],
  ];
  const rule = bounds.find(([broken]) => broken)?.[1] ?? brokenRatioRule(width / height, limits);
  return rule && `the ${noun} is ${width}x${height} pixels; ${rule}.`;
}

function brokenRatioRule(ratio: number, { ratio: bounds }: MediaLimits): string | undefined {
  if (!bounds || (ratio >= bounds.min && ratio <= bounds.max)) return undefined;
  return `its ratio of width to height must be from ${proportion(bounds.min)} to ${proportion(bounds.max)}`;
}

/** A bound as the documents write it. What the file has can be read from its size: rounded, it may look like the bound. */
const proportion = (ratio: number): string => (ratio < 1 ? `1:${rounded(1 / ratio)}` : `${rounded(ratio)}:1`);

function brokenLengthRule(seconds: number, noun: string, limits: MediaLimits): string | undefined {
  const { minSeconds = 0, maxSeconds = Infinity } = limits;
  if (seconds < minSeconds - LENGTH_TOLERANCE_SECONDS)
    return `the ${noun} lasts ${rounded(seconds)} s; it must last at least ${minSeconds} s.`;
  if (seconds > maxSeconds + LENGTH_TOLERANCE_SECONDS)
    return `the ${noun} lasts ${rounded(seconds)} s; it may last at most ${maxSeconds} s.`;
  return undefined;
}

/** Whether the files of a field are too long together, as a sentence. The tolerance counts once for each file. */
export function brokenTotalRule(measured: readonly MeasuredReference[], limit: TotalSecondsLimit): string | undefined {
  const lengths = measured
    .filter(({ param, medium }) => medium === limit.medium && belongsTo(param, limit.param))
    .map(({ durationSeconds }) => durationSeconds ?? 0);
  const total = lengths.reduce((sum, seconds) => sum + seconds, 0);
  if (total <= limit.maxSeconds + LENGTH_TOLERANCE_SECONDS * lengths.length) return undefined;
  return `the files last ${rounded(total)} s together; they may last at most ${limit.maxSeconds} s.`;
}

/** True for `audio_urls[2]` and `audio_urls` when the field is `audio_urls`. */
const belongsTo = (param: string, field: string): boolean =>
  param === field || param.startsWith(`${field}[`) || param.startsWith(`${field}.`);

/** At most three decimals: enough to see why a bound was missed. */
const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;
