import { eventually } from '#testing';
import { UncertainHolds } from './uncertain-holds.js';

class Ledger {
  readonly released: string[] = [];
  isAway = true;
  tries = 0;

  readonly release = (requestId: string): Promise<void> => {
    this.tries += 1;
    if (this.isAway) return Promise.reject(new Error('away'));
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
