import { systemClock } from '../clock/clock.js';
import { type BreakerPolicy, CircuitBreaker, FREELY } from './circuit-breaker.js';
import { Cooldowns } from './cooldowns.js';

const POLICY: BreakerPolicy = {
  failures: 1,
  callers: 1,
  evidence: 'failed',
  firstMs: 250,
  longestMs: 250,
  misconfiguredMs: 250,
};
const SERVER = { all: 'server', own: 'server|pool', caller: 'pool' };

describe('A circuit of one caller alone', () => {
  it('is probed by it as soon as the circuit allows, since there is nobody else', () => {
    const breaker = new CircuitBreaker(new Cooldowns(systemClock), POLICY);
    breaker.recordFailure(SERVER, FREELY);
    const coolingMs = breaker.coolingMs([SERVER.all, SERVER.own]);
    expect(coolingMs).toBeGreaterThan(0);
    expect(coolingMs).toBeLessThanOrEqual(POLICY.firstMs);
  });
});
