import { toGatewayError } from './to-gateway-error.js';

const fromDriver = (message: string, code?: string): Error => Object.assign(new Error(message), code && { code });

describe('Whatever was thrown', () => {
  it.each([
    fromDriver('terminating connection due to administrator command', '57P01'),
    fromDriver('connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED'),
    fromDriver('timeout exceeded when trying to connect'),
  ])('asks the client to come back when the database was lost (%s), and names no part of the house', (error) => {
    const { status, code, retryAfterMs, publicMessage } = toGatewayError(error);
    expect({ status, code, retryAfterMs }).toEqual({ status: 503, code: 'unavailable', retryAfterMs: 2_000 });
    expect(publicMessage).not.toContain(error.message);
  });

  it('becomes a 500 that gives nothing away when nobody foresaw it', () => {
    const { status, publicMessage } = toGatewayError(fromDriver('column "secret" does not exist', '42703'));
    expect([status, publicMessage.includes('secret')]).toEqual([500, false]);
  });
});
