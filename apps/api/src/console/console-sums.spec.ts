import fc from 'fast-check';
import { type Micros, parseMicros } from '#contracts';
import { RequestLedger } from '#features';
import { type ConsoleClient, consoleClient } from '../../../../tests/harness/console-client.js';
import { consoleLinks } from '../../../../tests/harness/console-link.js';
import { startTestGateway, type TestGateway } from '../../../../tests/harness/test-gateway.js';

const CHARGES = 1_000;
const AT_ONCE = 100;
const HELD: Micros = 2_000_000n;
const USAGE = {
  model: 'vendor-5',
  upstream: 'sandbox',
  status: 'completed',
  lines: [],
  inputTokens: 12,
  cachedInputTokens: 2,
  outputTokens: 30,
  reasoningTokens: 10,
  durationMs: 812.4,
} as const;

const sumOf = (amounts: readonly Micros[]): Micros => amounts.reduce((sum, amount) => sum + amount, 0n);

/** What an entry does to the balance. */
const changeOfAvailable = ({ amount, debit, credit }: { amount: string; debit: string; credit: string }): Micros => {
  const moved = parseMicros(amount);
  return (credit === 'available' ? moved : 0n) - (debit === 'available' ? moved : 0n);
};

describe('The money that the console shows', () => {
  let gateway: TestGateway;
  let owner: ConsoleClient;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false });
    const links = await consoleLinks(gateway);
    owner = consoleClient(gateway);
    await owner.call('POST /sign-in/link', { code: new URL(await links.next()).hash.replace('#code=', '') });
    await links.close();
  });
  afterAll(() => gateway.stop());

  const available = async (): Promise<Micros> => parseMicros((await owner.call('GET /billing')).body.available);
  /** Every entry, page by page. */
  const entries = async () => {
    const all = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const part: string = `/billing/entries?limit=500${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
      const { body } = await owner.call('GET /billing/entries', {}, part);
      all.push(...body.items);
      cursor = body.next_cursor;
    }
    return all;
  };
  /** A column of a CSV without quotes in it. */
  const column = (csv: string, name: string): string[] => {
    const [head = '', ...rows] = csv.trim().split('\n');
    const place = head.split(',').indexOf(name);
    return rows.map((row) => row.split(',')[place] ?? '');
  };

  it('is equal after 1,000 charges in the pages of the ledger, its CSV, the usage and the balance', async () => {
    const before = await available();
    const { rows } = await gateway.database.query<{ id: string }>({
      text: "select id from api_key where kind = 'api'",
    });
    const key = { accountId: gateway.accountId, apiKeyId: rows[0]?.id ?? '' };
    const ledger = new RequestLedger(gateway.database);
    const charges = fc.sample(fc.bigInt({ min: 0n, max: HELD }), { numRuns: CHARGES, seed: 18 });
    for (let first = 0; first < CHARGES; first += AT_ONCE) {
      await Promise.all(
        charges.slice(first, first + AT_ONCE).map(async (chargeMicros, index) => {
          const requestId = `req_sum_${first + index}`;
          const heldMicros = await ledger.hold({ ...key, requestId, amountMicros: HELD });
          await ledger.capture({ requestId, chargeMicros, usage: USAGE, heldMicros });
        }),
      );
    }
    const spent = sumOf(charges);
    expect(before - (await available())).toBe(spent);

    const listed = (await entries()).filter(({ request_id: id }) => id?.startsWith('req_sum_'));
    expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
    const captured = listed.filter(({ kind }) => kind === 'capture');
    expect(sumOf(captured.map(({ amount }) => parseMicros(amount)))).toBe(spent);
    expect(sumOf(listed.map(changeOfAvailable))).toBe(-spent);

    const csv = (await owner.call('GET /billing/entries', {}, '/billing/entries?format=csv')).text;
    const [kinds, amounts] = [column(csv, 'kind'), column(csv, 'amount')];
    const ofCaptures = amounts.filter((_amount, index) => kinds[index] === 'capture');
    expect(sumOf(ofCaptures.map((amount) => parseMicros(amount)))).toBe(spent);

    const usage = (await owner.call('GET /usage/records', {}, '/usage/records?format=csv')).text;
    expect(column(usage, 'amount')).toHaveLength(CHARGES);
    expect(sumOf(column(usage, 'amount').map((amount) => parseMicros(amount)))).toBe(spent);
    expect(parseMicros((await owner.call('GET /usage')).body.total.amount)).toBe(spent);
    expect(parseMicros((await owner.call('GET /overview')).body.spent_today)).toBe(spent);
  });
});
