import { eventually } from '#testing';
import { UncertainHolds } from './uncertain-holds.js';

class Ledger {
  readonly released: string[] = [];
  isAway = true;
  tries = 0;
  failing: string | undefined;

  readonly release = (requestId: string): Promise<void> => {
    this.tries += 1;
    if (this.isAway) return Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
    if (requestId === this.failing) return Promise.reject(new Error('its row is broken'));
    this.released.push(requestId);
    return Promise.resolve();
  };
}

describe('Holds that may have been written unnoticed', () => {
  let ledger: Ledger;
  let holds: UncertainHolds;
  beforeEach(() => {
    ledger = new Ledger();
    holds = new UncertainHolds(ledger.release, 5);
  });

  it('are given back as soon as the database answers again', async () => {
    holds.add('req_1');
    await eventually(() => ledger.tries > 2);
    ledger.isAway = false;
    await eventually(() => ledger.released.length > 0);
    expect(ledger.released).toEqual(['req_1']);
  });

  it('are given back although one before them fails each time', async () => {
    Object.assign(ledger, { isAway: false, failing: 'req_1' });
    for (const requestId of ['req_1', 'req_2', 'req_3']) holds.add(requestId);
    await eventually(() => ledger.released.length === 2);
    expect(ledger.released).toEqual(['req_2', 'req_3']);
    ledger.failing = undefined;
    await eventually(() => ledger.released.includes('req_1'));
  });

  it('are as many as 10,000, however long the database is away', async () => {
    const patient = new UncertainHolds(ledger.release, 60_000);
    for (let nth = 0; nth < 20_000; nth += 1) patient.add(`req_${nth}`);
    ledger.isAway = false;
    await patient.close();
    expect(ledger.released).toHaveLength(10_000);
  });

  it('are given back when the process ends', async () => {
    ledger.isAway = false;
    const patient = new UncertainHolds(ledger.release, 60_000);
    patient.add('req_1');
    await patient.close();
    expect(ledger.released).toEqual(['req_1']);
  });

  it('are never tried again after the process has closed', async () => {
    holds.add('req_1');
    await eventually(() => ledger.tries > 1);
    await holds.close();
    const { tries } = ledger;
    holds.add('req_2');
    // Begun later and due later: it would be given back after the closed ones were tried.
    const others = new UncertainHolds(ledger.release, 20);
    ledger.isAway = false;
    others.add('req_3');
    await eventually(() => ledger.released.length > 0);
    expect([ledger.tries - tries, ledger.released]).toEqual([1, ['req_3']]);
  });
});
