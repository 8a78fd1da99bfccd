import type { PartHealth, Readiness } from '#platform';
import { wholeReadiness } from './child-processes.js';

const standing = (status: Readiness['status'], parts: Record<string, PartHealth> = {}): Readiness => ({
  status,
  version: '1',
  reasons: [],
  parts: { process: { ok: true }, ...parts },
});

const READY = standing('ready', { database: { ok: true } });
const WITHOUT_QUEUE = standing('degraded', { queue: { ok: false, reason: 'no answer' } });
const AWAY = standing('not_ready', { database: { ok: false, reason: 'away' } });

describe('How a process and its children stand together', () => {
  it.each([
    ['ready while all are', [READY, READY], 'ready', []],
    ['degraded while a child is not running', [READY, null], 'degraded', ['api_processes: 1 of 2']],
    ['degraded while one is', [READY, WITHOUT_QUEUE], 'degraded', ['queue: no answer']],
    ['degraded while one can serve', [AWAY, READY], 'degraded', ['database: away', 'api_processes: 1 of 2']],
    ['not ready when none can serve', [AWAY, null], 'not_ready', ['database: away', 'api_processes: 0 of 2']],
  ] as const)('is %s', (_name, children, status, reasons) => {
    const whole = wholeReadiness(standing('ready'), children);
    expect(whole.status).toBe(status);
    expect(whole.reasons.map((reason) => reason.replace(/ API processes.*/, ''))).toEqual(reasons);
  });

  it('is not ready when the parent is not, whatever the children say', () => {
    const draining = standing('not_ready', { process: { ok: false, reason: 'the process is shutting down' } });
    expect(wholeReadiness(draining, [READY, READY])).toMatchObject({
      status: 'not_ready',
      reasons: ['process: the process is shutting down'],
    });
  });
});
