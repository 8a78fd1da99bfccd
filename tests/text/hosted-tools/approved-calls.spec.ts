import { ReconciliationService } from '#features';
import type { JsonObject } from '#contracts';
import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../../harness/text-vendor/text-gateway.js';
import { type HostileServer, startHostileServer } from '../../harness/tools/hostile-server.js';

interface Answer {
  readonly id: string;
  readonly output: JsonObject[];
}

interface UsageRow {
  readonly request: string;
  readonly status: string;
  readonly amount: bigint;
  readonly lines: readonly { readonly unit: string; readonly quantity: number }[];
}

const CALL_MICROS = 5_000n;
const model = MODEL_OVER.chat;

describe('Calls of a server’s tools that the caller approved', () => {
  let server: HostileServer;
  let gateway: TextGateway;
  /** The answer that waits for approval, and its request for it. */
  let waiting: { readonly id: string; readonly approval: unknown };
  /** The bills of what was done before. */
  let known: readonly string[] = [];
  beforeAll(async () => {
    server = await startHostileServer();
    gateway = await startTextGateway({ MEDIA_FETCH_ALLOW: server.address });
    await gateway.database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        values ('price_mcp', $1, 'mcp_call', $2, 1, now() - interval '1 day', 'test')`,
      values: [model, CALL_MICROS],
    });
    gateway.vendor.script = ({ result, toolNames }) =>
      result === undefined && toolNames.includes('weigh')
        ? { reasoning: undefined, text: '', call: { id: 'call_1', name: 'weigh', args: {} } }
        : { reasoning: undefined, text: `Result: ${result ?? 'nothing'}`, call: undefined };
    // The price book is read again after some seconds.
    await eventually(async () => {
      waiting = await askFirst();
      await approve();
      await gateway.settled();
      return (await allBills()).some(({ amount }) => amount >= CALL_MICROS);
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await server.stop();
  });
  beforeEach(async () => {
    waiting = await askFirst();
    await gateway.settled();
    known = (await allBills()).map(({ request }) => request);
    server.asked.length = 0;
  });
  afterEach(async () => {
    gateway.vendor.fault = 'none';
    server.hostility = undefined;
    await gateway.spareMoney();
    await gateway.settled();
    await expectExact();
  });

  async function expectExact(): Promise<void> {
    const report = await new ReconciliationService(gateway.database).run();
    // A test that makes the account poor does so behind the back of the books.
    expect(report?.findings.filter(({ check }) => check !== 'account_balances')).toEqual([]);
  }

  const tools = () => [
    { type: 'mcp', server_label: 'scales', server_url: `http://${server.address}/mcp`, require_approval: 'always' },
  ];
  async function askFirst(): Promise<typeof waiting> {
    const body = { model, input: 'weigh it', tools: tools() };
    const { body: answer } = await gateway.send<Answer>('POST', '/v1/responses', body);
    const approval = answer.output.find(({ type }) => type === 'mcp_approval_request')?.['id'];
    return { id: answer.id, approval };
  }
  const approving = (more: object = {}) => ({
    model,
    tools: tools(),
    previous_response_id: waiting.id,
    input: [{ type: 'mcp_approval_response', approval_request_id: waiting.approval, approve: true }],
    ...more,
  });
  const approve = (more?: object, headers: Record<string, string> = {}) =>
    gateway.send<Answer>('POST', '/v1/responses', approving(more), {
      authorization: `Bearer ${gateway.key}`,
      ...headers,
    });
  const callsMade = () => server.asked.filter(({ method }) => method === 'tools/call').length;
  const allBills = async (): Promise<readonly UsageRow[]> =>
    (
      await gateway.database.query<UsageRow>({
        text: `select request_id as request, status, amount_micros as amount, lines from usage_record order by request_id`,
      })
    ).rows;
  const bills = async (): Promise<readonly UsageRow[]> =>
    (await allBills()).filter(({ request }) => !known.includes(request));
  const unitsOf = ({ lines }: UsageRow) => lines.map(({ unit, quantity }) => [unit, quantity] as const);
  const billed = (count: number) => eventually(async () => ((await bills()).length === count ? bills() : null));

  it('stand on a bill of their own, before that of the model’s words on them', async () => {
    const { status, body } = await approve();
    expect([status, body.output.at(-1)?.['type']]).toEqual([200, 'message']);
    const [calls, words] = await billed(2);
    expect(unitsOf(calls!)).toEqual([['mcp_call', 1]]);
    expect([calls?.status, calls?.amount]).toEqual(['completed', CALL_MICROS]);
    expect(words?.request).toBe(`${calls?.request}.2`);
    expect(unitsOf(words!).map(([unit]) => unit)).toEqual(expect.arrayContaining(['input_token', 'output_token']));
    expect(unitsOf(words!).map(([unit]) => unit)).not.toContain('tool_round');
  });

  it('are not made for a request that cannot be paid', async () => {
    await gateway.setBalance(CALL_MICROS);
    const { status } = await approve();
    expect(status).toBe(402);
    expect(callsMade()).toBe(0);
    expect(await bills()).toEqual([]);
  });

  it('are charged when the model fails behind them', async () => {
    gateway.vendor.fault = 'error-500';
    const { status } = await approve();
    expect(status).toBeGreaterThanOrEqual(500);
    expect(callsMade()).toBe(1);
    const [calls, words] = await billed(2);
    expect([calls?.amount, words?.amount, words?.status]).toEqual([CALL_MICROS, 0n, 'failed']);
  });

  it('are charged when the caller leaves while a server works, however long it would', async () => {
    server.hostility = { at: 'call', does: 'hangs' };
    const leaving = new AbortController();
    const answer = fetch(`${gateway.baseUrl}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify(approving()),
      signal: leaving.signal,
    });
    answer.catch(() => undefined);
    await eventually(() => callsMade() === 1);
    leaving.abort();
    await gateway.untilAnswered();
    await gateway.settled();
    const paid = await eventually(async () => ((await bills()).length > 0 ? bills() : null));
    expect(paid[0]?.amount).toBe(CALL_MICROS);
    expect(gateway.vendor.seen.at(-1)?.body['tools']).toBeDefined();
  });

  it('are made once by two requests with the same idempotency key', async () => {
    const headers = { 'idempotency-key': `approval-${waiting.id}` };
    const answers = await Promise.all([approve({}, headers), approve({}, headers)]);
    expect(answers.map(({ status }) => status)).toContain(200);
    await gateway.settled();
    expect(callsMade()).toBe(1);
    expect((await bills()).map(unitsOf).filter(([line]) => line?.[0] === 'mcp_call')).toHaveLength(1);
  });

  it('are made once where the history has their request twice, and not at all where it also has a refusal', async () => {
    const request = { type: 'mcp_approval_request', id: waiting.approval, server_label: 'scales' };
    const again = { ...request, name: 'weigh', arguments: '{}' };
    const answer = (approve: boolean) => ({
      type: 'mcp_approval_response',
      approval_request_id: waiting.approval,
      approve,
    });
    expect((await approve({ input: [again, answer(true), answer(true)] })).status).toBe(200);
    expect(callsMade()).toBe(1);
    waiting = await askFirst();
    server.asked.length = 0;
    expect((await approve({ input: [answer(true), answer(false)] })).status).toBe(200);
    expect(callsMade()).toBe(0);
  });

  it('cost nothing where the server’s list is refused, so that they are not made', async () => {
    server.hostility = { at: 'list', does: 'refuses' };
    const other = [{ ...tools()[0], server_url: `http://${server.address}/mcp?other` }];
    const { status } = await approve({ tools: other });
    expect(status).toBe(400);
    await gateway.settled();
    expect([callsMade(), await bills()]).toEqual([0, []]);
  });
});
