import { badEndOf, stateWord } from './failure-rules.js';

describe('A word for a state that no page of a vendor has', () => {
  it.each([
    'EXPIRED',
    'Timeout',
    'rejected',
    'canceled',
    'cancelled',
    'Failure',
    ' error ',
    'TASK_STATUS_FAILED',
    'timed out',
  ])('ends the work where it can mean nothing good: %s', (word) =>
    expect(badEndOf(word)).toMatchObject({ state: 'failed' }),
  );

  it.each(['pondering', 'uploading', '', 'constructor', '__proto__'])('ends nothing otherwise: %s', (word) =>
    expect(badEndOf(word)).toBeUndefined(),
  );

  it.each(['done', 'Finished', 'SUCCESS ', 'TASK_STATUS_SUCCEED', 'completed'])('is a good end: %s', (word) =>
    expect(stateWord(word)).toBe('succeeded'),
  );

  it.each(['In-Progress', 'in progress', 'TASK_STATUS_IN_PROGRESS'])('is one word however it is written: %s', (word) =>
    expect(stateWord(word)).toBe('in_progress'),
  );
});
