import { resumesInMs } from './resumes-in.js';

const NOW = Date.parse('2026-11-27T16:00:00Z');
const HOUR = 3_600_000;

describe('The time at which a vendor serves again', () => {
  it.each([
    ['You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.', 80],
    ['You have exceeded the 5-hour usage quota. It will reset at 2026-11-28 04:00:00 +0800 CST.', 4],
    ['Weekly quota used up, resets at 2026-11-28T16:00:00Z', 24],
    ['Blocked until 2026-11-28.', 8],
    ['Your quota is available again from 2026-11-27 18:30', 2.5],
    ['Usage limit reached. Try again in 3 hours 30 minutes.', 3.5],
    ['Quota exhausted, please retry in 1h30m', 1.5],
    ['Limit reached, try again after 2 days and 4 hours', 52],
    ['Please retry in 36s', 0.01],
    ['Please wait for 36 seconds before you ask again', 0.01],
    ['Quota exceeded, try again in 1 week', 168],
    ['You will regain access on December 1, 2026 at 00:00 UTC.', 80],
    ['Your quota resets on Dec. 1, 2026', 80],
    ['Your limit will be reset on Tue, 01 Dec 2026 00:00:00 GMT', 80],
    ['The quota is restored on 1 December 2026', 80],
    ['Quota will be refreshed at 2026/11/28 04:00:00 +0800', 4],
    ['您的配额已用完，将于 2026-12-01 00:00:00 重置', 80],
    ['额度将于2026-12-01T08:00:00+08:00恢复', 80],
    ['Usage limit reached, resets at 1795809600', 4],
    ['Limit reached. Try again at 1795809600000', 4],
  ])('is read from its sentence: %s', (sentence, hours) => expect(resumesInMs(sentence, NOW)).toBe(hours * HOUR));

  it.each([
    'Rate limit reached.',
    'It was reset at 2026-11-26 00:00 UTC.',
    'It will reset at 2031-01-01 00:00 UTC.',
    'It will reset at 2026-13-45.',
    'It will reset on Smarch 1, 2026.',
    'It resets on December 41, 2026.',
    'It will reset at 1795000000.',
    'The file 1795809600 is not available.',
    'Order 17958096001795809600 is not available until then, retry.',
    'The report of December 1, 2026 is not available.',
    '2026-12-01 00:00:00 的视频不可用',
    'The video of 2026-12-24 cannot be used. Try again.',
    'duration is 5 seconds in 720p',
    `try again ${'in '.repeat(20_000)}`,
    `resets ${'1d '.repeat(20_000)}`,
    '',
  ])('is unknown where it names none to come: %.60s', (sentence) => expect(resumesInMs(sentence, NOW)).toBeUndefined());
});
