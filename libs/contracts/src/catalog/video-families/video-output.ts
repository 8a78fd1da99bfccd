import type { OutputPlan, OutputSize } from '../media-order.js';

/** One silent video without extras; what a family adds is given in `more`. */
export const videoOutput = (
  size: OutputSize,
  durationSeconds: number,
  more: { count?: number; audio?: boolean; lastFrame?: boolean; watermark?: boolean } = {},
): OutputPlan => ({
  medium: 'video',
  count: 1,
  size,
  durationSeconds,
  audio: false,
  lastFrame: false,
  watermark: false,
  ...more,
});

/** How long a video task may take, in seconds. */
export const VIDEO_DEADLINE_SECONDS = 3_600;
