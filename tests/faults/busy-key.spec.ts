import { ReconciliationService } from '#features';
import { abortAfter } from '#platform';
import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway, UPSTREAMS } from '../harness/text-vendor/text-gateway.js';
import { STYLES, textRequest } from '../harness/text-vendor/text-requests.js';

interface Books {
  readonly available: bigint;
  readonly held: bigint;
  readonly used: bigint;
  readonly reservations: bigint;
}

/** Stands for the status of an answer that its client did not wait for. */
const LEFT = 0;

/** A key with plenty of money and many requests at once, whose money is drawn from a reservation. */
describe('A busy key', () => {
  let gateway: TextGateway;
  let before: Books;
  beforeAll(async () => {
    gateway = await startTextGateway({}, { reservations: true });
    before = await books();
  });
  afterAll(() => gateway.stop());

  async function books(): Promise<Books> {
    const { rows } = await gateway.database.query<Books & Record<string, bigint>>({
      text: `select available_micros as available, held_micros as held, used_micros as used,
        (select count(*) from ledger_entry e where e.kind = 'hold' and e.request_id like 'reservation_%') as reservations
        from account where id = $1`,
      values: [gateway.accountId],
    });
    if (!rows[0]) throw new Error('the account is gone');
    return rows[0];
  }

  /** Sends a request in some style over some upstream; every fifth client leaves at once. */
  async function ask(index: number): Promise<number> {
    const style = STYLES[index % STYLES.length] ?? 'responses';
    const model = MODEL_OVER[UPSTREAMS[index % UPSTREAMS.length] ?? 'sandbox'];
    const { path, body, headers } = textRequest(style, { key: gateway.key, model, stream: index % 2 === 0 });
    const signal = index % 5 === 4 ? abortAfter(3) : null;
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal,
    }).catch(() => undefined);
    await answer?.text().catch(() => undefined);
    return answer?.status ?? LEFT;
  }

  it('gets every response, in every style and over every upstream, while charged from a reservation', async () => {
    const statuses: number[] = [];
    for (let round = 0; round < 6; round += 1)
      statuses.push(...(await Promise.all(Array.from({ length: 30 }, (_, index) => ask(index)))));
    expect(statuses.filter((status) => status !== 200 && status !== LEFT)).toEqual([]);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(144);
    expect((await books()).reservations).toBeGreaterThan(0n);
  });

  it('gets the uncharged rest back once it is idle, and each request was charged once', async () => {
    await eventually(async () => (await books()).held === 0n);
    const after = await books();
    expect(after.used).toBeGreaterThan(0n);
    expect(after.available + after.used).toBe(before.available + before.used);
    const { rows } = await gateway.database.query({
      text: `select (select count(*) from usage_record where amount_micros > 0)
        - (select count(*) from ledger_entry where kind = 'capture' and amount_micros > 0) as unmatched,
        (select sum(amount_micros) from usage_record)::bigint as explained`,
    });
    expect(rows).toEqual([{ unmatched: 0n, explained: after.used }]);
    expect(await new ReconciliationService(gateway.database).run()).toMatchObject({ findings: [] });
  });
});
