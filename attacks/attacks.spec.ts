import { FLOODS } from './floods.js';
import { MONEY_ATTACKS } from './leaving.js';
import { PROBE_NAMES } from './probes.js';
import { type Row, tableOf } from './report.js';
import { attackAtOnce, attackInTurn, onGateway } from './run-attacks.js';
import { SMUGGLING_ATTACKS } from './smuggling.js';
import { RESTART } from './stops.js';
import { STRANGE_VENDORS } from './strange-vendors.js';

/** The attacks whose outcome no load of the machine can change; `npm run attacks` runs all of them, with their times. */
const ATTACKS = [...SMUGGLING_ATTACKS, ...MONEY_ATTACKS, ...STRANGE_VENDORS, RESTART];

/** Of the floods together: so many requests of each that its bounds are met. */
const AT_ONCE = { forMs: 6_000, rest: 10 };

/** The rows that did not hold, as a table. */
const brokenOf = (rows: readonly Row[]): string => {
  const broken = rows.filter(({ breaches }) => breaches.length > 0);
  return broken.length > 0 ? tableOf(broken) : '';
};

describe('A gateway under attack', () => {
  it('is paid for what its vendors did, asks none for what it cannot charge, and serves others within its memory while every flood flows', async () => {
    await onGateway(
      'embedded',
      async (scene) => {
        const inTurn = await attackInTurn(scene, ATTACKS);
        expect(brokenOf(inTurn)).toBe('');
        const atOnce = await attackAtOnce(scene, FLOODS, AT_ONCE);
        expect(brokenOf(atOnce)).toBe('');
        expect([inTurn.length, atOnce.length]).toEqual([ATTACKS.length, FLOODS.length + PROBE_NAMES.length]);
      },
      { scale: 1, judgesTimes: false },
    );
  }, 600_000);
});
