import { CRASH_POINTS } from '#runtime';
import { ROLES } from './assignment.js';
import { SCENARIOS } from './scenarios.js';
import type { Backend } from './services.js';
import { VENDOR_KINDS } from './vendor/vendor-kinds.js';

describe.each(['postgres', 'redis'] satisfies Backend[])('The crash matrix, queues in %s', (backend) => {
  const rows = SCENARIOS.filter(({ only }) => only === undefined || only === backend);

  it('has a row for every named crash point', () => {
    expect([...new Set(rows.map(({ crash }) => crash))].toSorted()).toEqual(
      [...CRASH_POINTS, 'any moment', 'inside start', 'roll-out'].toSorted(),
    );
  });

  it.each(VENDOR_KINDS)('has a row of its own for vendors of the kind %s, calm and with wrong answers', (kind) => {
    const own = rows.filter(({ vendor }) => vendor === kind);
    expect(own.map(({ vendorFaults }) => vendorFaults > 0)).toEqual(expect.arrayContaining([true, false]));
  });

  it('lets every kind of process die at a named point', () => {
    expect([...new Set(rows.flatMap(({ roles }) => roles))].toSorted()).toEqual(ROLES.toSorted());
  });

  it('crashes at least 250 times when each row does so ten times', () => {
    expect(rows.length * 10).toBeGreaterThanOrEqual(250);
  });
});

describe('The crash matrix on Postgres, Redis and S3 together', () => {
  const rows = SCENARIOS.filter(({ only, store }) => only === 'redis' && store === 's3');

  it.each(VENDOR_KINDS)('lets processes die while files of vendors of the kind %s go into the bucket', (kind) => {
    const own = rows.filter(({ vendor }) => vendor === kind);
    expect(own.map(({ crash }) => crash)).toEqual(
      expect.arrayContaining(['after-vendor-start', 'after-file-copied', 'any moment']),
    );
  });

  it('changes the first upstream, the file and the release under load', () => {
    const changes = rows.filter(({ disturb, crash }) => disturb !== undefined || crash === 'roll-out');
    expect(changes.map(({ crash, fault, vendor }) => [crash, fault, vendor])).toEqual(
      SCENARIOS.filter(
        ({ store, crash, fault }) => !store && (crash === 'roll-out' || fault.startsWith('the first')),
      ).map(({ crash, fault, vendor }) => [crash, fault, vendor]),
    );
  });
});
