import { sendLargeBodies } from './large-bodies.js';
import { yardstickMs } from './yardstick.js';

const NAMES = [
  'files, native, repeatable',
  'pictures to chat',
  'pictures to sandbox',
  'pictures, native, stored',
  'a text of Chinese to chat',
];

describe('Bodies of nearly the largest size', () => {
  it('are answered whichever way they take, and stop nobody', async () => {
    const reports = await sendLargeBodies(NAMES);
    expect(reports.map(({ name, status }) => ({ name, status }))).toEqual(NAMES.map((name) => ({ name, status: 200 })));
    const bar = yardstickMs();
    expect(reports.filter(({ busyMs }) => busyMs > bar)).toEqual([]);
  }, 300_000);
});
