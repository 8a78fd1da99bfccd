import type { JsonObject } from '#contracts';

/*
 * No client library of Vidu is known that could judge a fake, so its replies are made after the pages that the vendor shows,
 * each named here. One real order (`npm run smoke -- --record`) is what they still have to be compared with.
 */

/** platform.vidu.com/docs/text-to-video, reply to an order. */
export const CREATED: JsonObject = {
  task_id: '',
  state: 'created',
  model: 'viduq3-pro',
  prompt: 'A heron lifts off.',
  images: [],
  duration: 5,
  seed: 123_456_789,
  aspect_ratio: '16:9',
  resolution: '720p',
  movement_amplitude: 'auto',
  payload: '',
  credits: 10,
  off_peak: false,
  created_at: '2026-01-01T15:41:31.968916Z',
};

/** platform.vidu.com/docs/get-generation, reply to a question about finished work. */
export const SUCCEEDED: JsonObject = {
  state: 'success',
  err_code: '',
  credits: 10,
  payload: '',
  bgm: false,
  off_peak: false,
  creations: [
    {
      id: '1',
      url: 'https://prod-ss-vidu.example.com/video.mp4?Signature=1',
      cover_url: 'https://prod-ss-vidu.example.com/cover.jpg?Signature=1',
      watermarked_url: 'https://prod-ss-vidu.example.com/marked.mp4?Signature=1',
    },
  ],
};

/** platform.vidu.com/docs/get-account-info. */
export const CREDITS: JsonObject = {
  remains: [
    { type: 'metered', credit_remain: 4_200, concurrency_limit: 5, current_concurrency: 1, queue_count: 0 },
    { type: 'test', credit_remain: 0, concurrency_limit: 1, current_concurrency: 0, queue_count: 0 },
  ],
  packages: [],
};

/** platform.vidu.com/docs/error-code: the envelope of every refusal. */
export const refused = (status: number, reason: string, message = 'no words'): JsonObject => ({
  code: status,
  reason,
  message,
  metadata: { trace_id: '0123456789abcdef' },
});
