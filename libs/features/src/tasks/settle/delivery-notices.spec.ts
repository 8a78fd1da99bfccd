import type { OutputPlan } from '#contracts';
import type { SettledFile } from '../store/result-files.js';
import { deliveryNotices } from './charge.js';

const video = (seconds: number, role: SettledFile['role'] = 'output'): SettledFile =>
  ({ role, durationMs: seconds * 1000 }) as SettledFile;
const image = { role: 'output', durationMs: null } as SettledFile;
const size = { kind: 'fixed', width: 1, height: 1 } as const;
const VIDEOS: OutputPlan = {
  medium: 'video',
  count: 2,
  size,
  durationSeconds: 5,
  audio: false,
  lastFrame: false,
  watermark: false,
};
const IMAGES: OutputPlan = { medium: 'image', count: 3, size, watermark: false };

describe('The delivery notices of a task', () => {
  it.each<[what: string, plan: OutputPlan, files: SettledFile[], expected: string[]]>([
    ['nothing when all is as ordered', IMAGES, [image, image, image], []],
    ['nothing when a video is a frame longer', VIDEOS, [video(5.04), video(5)], []],
    [
      'how many files are missing',
      IMAGES,
      [image],
      ['The vendor delivered 1 of 3 files; the missing ones are not charged.'],
    ],
    [
      'not to count a last frame as a video',
      VIDEOS,
      [video(5), video(0, 'last_frame')],
      ['The vendor delivered 1 of 2 files; the missing ones are not charged.'],
    ],
    [
      'that the last frame is missing, which has no price of its own',
      { ...VIDEOS, count: 1, lastFrame: true },
      [video(5)],
      ['The last frame was ordered, and the vendor did not deliver it.'],
    ],
    ['nothing when a video is almost as long as ordered', VIDEOS, [video(4.1), video(5)], []],
    [
      'that a video is shorter, and what of it is charged',
      VIDEOS,
      [video(2.2), video(5)],
      ['The video lasts 2.2 s; 5 s were ordered and 3 s are charged.'],
    ],
    [
      'that a video is longer than what is charged',
      VIDEOS,
      [video(6), video(5)],
      ['The video lasts 6 s; 5 s were ordered and are charged.'],
    ],
  ])('say %s', (_, plan, files, expected) => {
    expect(deliveryNotices(plan, files)).toEqual(expected);
  });
});
