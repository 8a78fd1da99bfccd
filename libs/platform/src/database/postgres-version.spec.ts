import { tooOldPostgres } from './wait-for-postgres.js';

describe('The version of Postgres', () => {
  it.each(['150000', '150020', '160004', '180004'])('is accepted as %s', (version) => {
    expect(tooOldPostgres(version)).toBeNull();
  });

  it.each([
    ['140022', '14.22'],
    ['90624', '9.624'],
  ])('is refused as %s in one line that names both versions', (version, shown) => {
    expect(tooOldPostgres(version)).toBe(`The gateway needs Postgres 15 or newer; DATABASE_URL points to ${shown}.`);
  });
});
