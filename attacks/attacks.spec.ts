import { freePort } from '#testing';
import { MONEY_ATTACKS } from './leaving.js';
import { tableOf } from './report.js';
import { runAttacks } from './run-attacks.js';
import { SMUGGLING_ATTACKS } from './smuggling.js';

/** The attacks whose outcome no load of the machine can change; `npm run attacks` runs all of them, with their times. */
const ATTACKS = [...SMUGGLING_ATTACKS, ...MONEY_ATTACKS];

describe('A gateway under attack', () => {
  it('is paid for what its vendors did, asks none for what it cannot charge, and keeps its books exact after each attack', async () => {
    const rows = await runAttacks('embedded', ATTACKS, { scale: 1 }, await freePort());
    const broken = rows.filter(({ breaches }) => breaches.length > 0);
    if (broken.length > 0) throw new Error(tableOf(broken));
    expect(rows).toHaveLength(ATTACKS.length);
  }, 600_000);
});
