import { MediaStoreError } from '#media';
import { toGatewayError } from './error-body.js';

const fromDriver = (message: string, code?: string): Error => Object.assign(new Error(message), code && { code });

describe('A thrown value', () => {
  it.each([
    fromDriver('terminating connection due to administrator command', '57P01'),
    fromDriver('connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED'),
    fromDriver('timeout exceeded when trying to connect'),
    fromDriver('sorry, too many clients already', '53300'),
    new Error('wrapped', { cause: fromDriver('Postgres did not answer within 2000 ms', 'ETIMEDOUT') }),
  ])('asks the client to try again when the database was lost (%s), and reveals no internals', (error) => {
    const { status, code, retryAfterMs, publicMessage } = toGatewayError(error);
    expect({ status, code, retryAfterMs }).toEqual({ status: 503, code: 'unavailable', retryAfterMs: 2_000 });
    expect(publicMessage).not.toContain(error.message);
  });

  it.each([
    fromDriver('could not extend file "base/5/16393": No space left on device', '53100'),
    fromDriver('out of memory', '53200'),
    fromDriver('canceling statement due to statement timeout', '57014'),
    fromDriver('cannot execute INSERT in a read-only transaction', '25006'),
    fromDriver("ENOSPC: no space left on device, write '/data/x'", 'ENOSPC'),
    new MediaStoreError('no_space', 'there is no room left for media files'),
    new MediaStoreError('unavailable', 'the bucket cannot be reached'),
  ])('asks the client to try again when a server has no room or is recovering (%s)', (error) => {
    const { status, code, retryAfterMs, publicMessage } = toGatewayError(error);
    expect({ status, code, retryAfterMs }).toEqual({ status: 503, code: 'unavailable', retryAfterMs: 2_000 });
    expect(publicMessage).not.toContain(error.message);
  });

  it.each(['22021', '22P05'])('becomes a 400 for the sender of a text that the database cannot store (%s)', (code) => {
    const wrapped = new Error('wrapped', {
      cause: fromDriver('invalid byte sequence for encoding "UTF8": 0x00', code),
    });
    const { status, publicMessage } = toGatewayError(wrapped);
    expect([status, publicMessage]).toEqual([
      400,
      'A text in the request contains a null character or half of a surrogate pair, which cannot be stored.',
    ]);
  });

  it('becomes a 500 without details when the error is unexpected', () => {
    const { status, publicMessage } = toGatewayError(fromDriver('column "secret" does not exist', '42703'));
    expect([status, publicMessage.includes('secret')]).toEqual([500, false]);
  });
});
