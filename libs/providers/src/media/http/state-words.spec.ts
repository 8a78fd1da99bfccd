import { badEndOf } from './failure-rules.js';

describe('A word for a state that no page of a vendor has', () => {
  it.each(['EXPIRED', 'Timeout', 'rejected', 'canceled', 'cancelled', 'Failure', ' error '])(
    'ends the work where it can mean nothing good: %s',
    (word) => expect(badEndOf(word)).toMatchObject({ state: 'failed' }),
  );

  it.each(['pondering', 'done', 'uploading', '', 'constructor', '__proto__'])('ends nothing otherwise: %s', (word) =>
    expect(badEndOf(word)).toBeUndefined(),
  );
});
