import { ReconciliationService, RequestLedger } from '#features';
import { describeWithRedis, eventually } from '#testing';
import fc from 'fast-check';
import { Agent, request } from 'undici';
import { startTestGateway, TEST_KEY, type TestGateway, type TestGatewayOptions } from '../harness/test-gateway.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };
const PRICE_MICROS = 35_000n;
const RUNS = 4;
const HALF_PRICE = 'half';

/** What may happen to money, in any order and all at once. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('task' as const),
      prompt: fc.constantFrom(
        'waves',
        '[sandbox:fail=content_policy]',
        '[sandbox:fail=upstream_error]',
        '[sandbox:flaky=1]',
        '[sandbox:partial=2]',
        '[sandbox:delay=150]',
      ),
      key: fc.nat(3),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('text' as const), key: fc.nat(3), repeated: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fund' as const), cents: fc.integer({ min: -30, max: 60 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('key' as const),
      key: fc.nat(3),
      change: fc.constantFrom('quota', 'rotate', 'revoke'),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('remedy' as const),
      which: fc.nat(),
      change: fc.constantFrom('refund', 'redrive', 'cancel'),
      cents: fc.constantFrom(undefined, 1, 2),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('account' as const),
      change: fc.constantFrom('disable', 'enable', 'enable', 'half price', 'full price'),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'abandon' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'cut' as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** One gateway with an account of its own, on which steps happen. */
class Scene {
  private readonly tasks: string[] = [];
  private readonly keys: { id: string; key: string }[] = [];
  private accountId = '';
  private number = 0;

  constructor(private readonly gateway: TestGateway) {}

  async open(): Promise<void> {
    await this.admin('/price-lists', { id: HALF_PRICE, name: 'Half', rules: [{ model: '*', factor: '0.5' }] });
    this.accountId = String((await this.admin('/accounts', { name: 'scene' }))['id']);
    await this.admin(`/accounts/${this.accountId}/top-ups`, { amount: '0.60', reference: 'start' });
    for (const quota of [undefined, undefined, '0.15', '0.30']) {
      const made = await this.admin(`/accounts/${this.accountId}/keys`, { name: 'k', ...(quota && { quota }) });
      this.keys.push({ id: String(made['id']), key: String(made['key']) });
    }
  }

  /** Answers nothing: refusals and lost connections are part of the play. */
  async play(one: Step): Promise<void> {
    const key = 'key' in one ? this.keys[one.key] : this.keys[0];
    if (!key) return;
    switch (one.kind) {
      case 'task':
        return this.submit(key.key, one.prompt);
      case 'text':
        return this.say(key.key, one.repeated);
      case 'cancel':
        return this.cancel(one.which);
      case 'fund':
        return void (await this.admin(`/accounts/${this.accountId}/adjustments`, {
          amount: (one.cents / 100).toFixed(2),
          reference: `step-${(this.number += 1)}`,
        }));
      case 'key':
        return this.changeKey(key, one.change);
      case 'remedy':
        return this.remedy(one);
      case 'account':
        return this.changeAccount(one.change);
      case 'abandon':
        return this.abandon(key.id);
      case 'cut':
        return this.cutConnections();
    }
  }

  /** Waits until nothing is under way, lets the sweeps run, and answers what does not add up. */
  async settle(): Promise<readonly object[]> {
    const open = { text: 'select 1 from task where finished_at is null limit 1' };
    await eventually(async () => (await this.gateway.database.query(open)).rows.length === 0);
    await this.gateway.database.query({ text: 'update request_hold set expires_at = now()' });
    await new RequestLedger(this.gateway.database).releaseAbandoned();
    const report = await new ReconciliationService(this.gateway.database).run();
    const { rows } = await this.gateway.database.query<{ id: string }>({
      text: 'select id from account where held_micros <> 0 or (not unlimited and available_micros < 0)',
    });
    return [...(report?.findings ?? [{ missing: 'report' }]), ...rows];
  }

  private async submit(key: string, prompt: string): Promise<void> {
    const body = { ...IMAGE, prompt, n: prompt.includes('partial') ? 3 : 1 };
    const answer = await this.send<{ data?: { task_id: string }[] }>('/v1/images/generations', body, key);
    const taskId = answer?.data?.[0]?.task_id;
    if (taskId) this.tasks.push(taskId);
  }

  private async say(key: string, repeated: boolean): Promise<void> {
    const headers = repeated ? { 'idempotency-key': `said-${(this.number += 1)}` } : {};
    const body = { model: 'vendor-5', input: 'Say something short.', max_output_tokens: 50 };
    const once = () => this.send('/v1/responses', body, key, headers);
    await (repeated ? Promise.all([once(), once()]) : once());
  }

  private async cancel(which: number): Promise<void> {
    const taskId = this.tasks[which % Math.max(1, this.tasks.length)];
    if (taskId) await this.send(`/v1/tasks/${taskId}/cancel`, {}, this.keys[0]?.key ?? '');
  }

  private async changeKey(key: { id: string; key: string }, change: 'quota' | 'rotate' | 'revoke'): Promise<void> {
    if (change === 'quota') await this.admin(`/keys/${key.id}`, { quota: '0.20' }, 'PATCH');
    if (change === 'rotate') await this.rotate(key);
    if (change === 'revoke' && key !== this.keys[0]) await this.admin(`/keys/${key.id}/revoke`, {});
  }

  private async rotate(key: { id: string; key: string }): Promise<void> {
    const { key: next } = await this.admin(`/keys/${key.id}/rotate`, {});
    if (typeof next === 'string') key.key = next;
  }

  /** What operators do for a task; twice at once, as they do when the first seems to hang. */
  private async remedy({ which, change, cents }: Extract<Step, { kind: 'remedy' }>): Promise<void> {
    const taskId = this.tasks[which % Math.max(1, this.tasks.length)];
    if (!taskId) return;
    const amount = cents === undefined ? {} : { amount: (cents / 100).toFixed(2) };
    const refund = { reference: `refund-${(this.number += 1)}`, reason: 'a step', ...amount };
    const once = () => this.admin(`/tasks/${taskId}/${change}`, change === 'refund' ? refund : {});
    const answers = await Promise.all([once(), once()]);
    for (const { new_task_id: again } of answers)
      if (typeof again === 'string' && !this.tasks.includes(again)) this.tasks.push(again);
  }

  private async changeAccount(change: Extract<Step, { kind: 'account' }>['change']): Promise<void> {
    const path = `/accounts/${this.accountId}`;
    if (change.endsWith('price'))
      await this.admin(`${path}/price-list`, { list: change === 'half price' ? HALF_PRICE : null });
    else await this.admin(path, { disabled: change === 'disable' }, 'PATCH');
  }

  /** A process that dies between the hold of a request and its end. */
  private async abandon(apiKeyId: string): Promise<void> {
    const hold = { accountId: this.accountId, apiKeyId, requestId: `lost-${Math.random()}`, amountMicros: 10_000n };
    await new RequestLedger(this.gateway.database).hold(hold).catch(() => undefined);
  }

  /** What a restart of Postgres does to every open connection. */
  private async cutConnections(): Promise<void> {
    await this.gateway.database
      .query({
        text: `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and application_name = 'generation-gateway'`,
      })
      .catch(() => undefined);
  }

  private async admin(path: string, body: object, method = 'POST'): Promise<Record<string, unknown>> {
    const answer = await this.send<{ data?: Record<string, unknown> }>(
      `/admin/v1${path}`,
      body,
      ADMIN_TOKEN,
      {},
      method,
    );
    return answer?.data ?? {};
  }

  private async send<Body>(
    path: string,
    body: object,
    key: string,
    headers = {},
    method = 'POST',
  ): Promise<Body | null> {
    const all = { authorization: `Bearer ${key}`, ...headers };
    return (await this.gateway.send<Body>(method, path, body, all).catch(() => null))?.body ?? null;
  }
}

function money(options: () => TestGatewayOptions): void {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ ...options(), environment: { ADMIN_TOKEN, SANDBOX_IMAGE_MS: '20' } });
  });
  afterAll(() => gateway.stop());

  it('reconciles after any interleaving of orders, failures, remedies, funding, changes of keys and accounts, and cut connections', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 4, maxLength: 12 }), { minLength: 4, maxLength: 5 }),
        async (rounds) => {
          const scene = new Scene(gateway);
          await scene.open();
          for (const steps of rounds) await Promise.all(steps.map((one) => scene.play(one)));
          expect(await scene.settle()).toEqual([]);
        },
      ),
      { numRuns: RUNS, endOnFailure: true },
    );
  }, 600_000);

  it('accepts exactly 100 of 1,000 submissions at once on a balance for 100', async () => {
    await gateway.database.query({
      text: `insert into ledger_entry (account_id, kind, debit, credit, amount_micros)
        select id, 'adjustment', 'available', 'funding', available_micros - $2::bigint from account where id = $1`,
      values: [gateway.accountId, 100n * PRICE_MICROS],
    });
    await gateway.database.query({
      text: 'update account set available_micros = $2 where id = $1',
      values: [gateway.accountId, 100n * PRICE_MICROS],
    });
    const dispatcher = new Agent({ connections: 200 });
    const ask = async (): Promise<number> => {
      const { statusCode, body } = await request(`${gateway.baseUrl}/v1/images/generations`, {
        method: 'POST',
        dispatcher,
        headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...IMAGE, prompt: '[sandbox:delay=60000]' }),
      });
      await body.dump();
      return statusCode;
    };
    /** Submits again after a 503. */
    const submit = async (): Promise<number> => {
      for (;;) {
        const status = await ask();
        if (status !== 503) return status;
      }
    };
    const statuses = await Promise.all(Array.from({ length: 1_000 }, submit));
    await dispatcher.close();
    const count = (status: number) => statuses.filter((one) => one === status).length;
    expect([count(200), count(402)]).toEqual([100, 900]);
    const report = await new ReconciliationService(gateway.database).run();
    expect(report?.findings).toEqual([]);
  });
}

describe('Money, queues in Postgres', () => {
  money(() => ({}));
});
describeWithRedis('Money, queues in Redis', (redisUrl) => money(() => ({ redisUrl })));
