import { signals } from '#platform';
import { createTestDatabase, type TestDatabase } from '#testing';
import { UsageDaysService } from '../billing/usage/usage-days.service.js';
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

  it('show the number of past days not summed up, and zero where nothing was ever used', async () => {
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

  it('count the accounts whose balance lasts less than a day at the pace of the last week', async () => {
    const account = async (id: string, available: number, usedADay: number, unlimited = false): Promise<void> => {
      await test.database.query({
        text: `insert into account (id, name, available_micros, unlimited) values ($1, $1, $2, $3)`,
        values: [id, available, unlimited],
      });
      await test.database.query({
        text: `insert into usage_daily (account_id, day, model, api_key_id, kind, amount_micros)
          select $1, current_date - day, 'm', 'key', 'text', $2 from generate_series(1, 5) day`,
        values: [id, (usedADay * 7) / 5],
      });
    };
    await account('short', 999, 1_000);
    await account('enough', 1_000, 1_000);
    await account('unlimited', 0, 1_000, true);
    await account('idle', 0, 0);
    await fleetSources(test.database)
      .find(({ name }) => name === 'balances')
      ?.collect();
    expect((await signals.accountsLowBalance.get()).values[0]?.value).toBe(1);
  });
});
