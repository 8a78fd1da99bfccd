import { signals } from '#platform';
import { createTestDatabase, type TestDatabase } from '#testing';
import { UsageDaysService } from '../usage/usage-days.service.js';
import { fleetSources } from './fleet-sources.js';

const DAY_MS = 86_400_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

describe('The numbers of the fleet', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.remove());

  async function openDays(): Promise<number | undefined> {
    await fleetSources(test.database)
      .find(({ name }) => name === 'usage_days')
      ?.collect();
    return (await signals.usageDaysOpen.get()).values[0]?.value;
  }

  it('say how many days are over and not summed up, and none where nothing was ever used', async () => {
    expect(await openDays()).toBe(0);
    await test.database.query({ text: `insert into account (id, name) values ('acct', 'x')` });
    await test.database.query({
      text: `insert into usage_daily (account_id, day, model, api_key_id, kind) values ('acct', $1, 'm', 'key', 'text')`,
      values: [daysAgo(3)],
    });
    expect(await openDays()).toBe(3);
    await new UsageDaysService(test.database).closeUntil(daysAgo(2));
    expect(await openDays()).toBe(1);
  });
});
