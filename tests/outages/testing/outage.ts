import type { JsonObject, TaskView } from '#contracts';
import { eventually, FaultProxy, type NetworkFault, ownTimeMs } from '#testing';
import { startTestGateway, TEST_KEY, type TestGateway, type TestGatewayOptions } from '../../harness/test-gateway.js';

/**
 * A request may cost 5 seconds while a server is silent; a busy machine may need as much again. One without a limit would
 * last as long as the silence.
 */
export const REQUEST_LIMIT_MS = 10_000;
/** So long after a server is back everything works again, by a clock that stands still while others have the processor. */
const HEALED_WITHIN_MS = 40_000;
/** How long each outage lasts: longer than every limit of a single wait. */
const OUTAGE_MS = 6_000;

const IMAGE = { model: 'eta-image-2.0', prompt: 'a quiet street' };

/** A server that goes silent without ending its connections, and does not answer new ones either. */
export const FAULTS = ['half-open', 'black-hole'] as const satisfies NetworkFault[];

const UNBALANCED = `
select id from account a where held_micros <> 0
  or available_micros <> (select coalesce(sum(case when credit = 'available' then amount_micros else 0 end
    - case when debit = 'available' then amount_micros else 0 end), 0) from ledger_entry e where e.account_id = a.id)
  or used_micros <> (select coalesce(sum(amount_micros), 0) from ledger_entry e where e.account_id = a.id and kind = 'capture')`;
const WRONGLY_PAID = `
select id from task t where
  (select count(*) from ledger_entry e where e.task_id = t.id and e.kind = 'hold') <> 1
  or (select count(*) from ledger_entry e where e.task_id = t.id and e.kind = 'capture') <> (state = 'completed')::integer`;

/** A response, and how long it took but for what others took the processor away. */
export interface Timed {
  readonly what: string;
  readonly status: number;
  readonly tookMs: number;
  readonly retryAfter: string | null;
  readonly body: JsonObject;
}

const taskIdOf = ({ body }: Timed): string => (body['data'] as { task_id: string }[])[0]?.task_id ?? '';

/** A gateway with one of its servers behind a network that can fail. */
export class Outage {
  private constructor(
    readonly gateway: TestGateway,
    private readonly proxy: FaultProxy,
  ) {}

  /** Starts both; `behind` answers the options of a gateway that reaches the server through the proxy. */
  static async prepare(
    open: () => Promise<FaultProxy>,
    behind: (proxy: FaultProxy) => TestGatewayOptions,
  ): Promise<Outage> {
    const proxy = await open();
    const { environment, ...options } = behind(proxy);
    return new Outage(
      await startTestGateway({ ...options, environment: { TASK_LEASE_SECONDS: '2', ...environment } }),
      proxy,
    );
  }

  async close(): Promise<void> {
    await this.gateway.stop();
    await this.proxy.close();
  }

  async ask(method: string, path: string, body?: JsonObject, key = TEST_KEY): Promise<Timed> {
    const beganMs = ownTimeMs();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await this.gateway.send(method, path, body, headers);
    const tookMs = ownTimeMs() - beganMs;
    const retryAfter = response.headers.get('retry-after');
    return { what: `${method} ${path}`, status: response.status, tookMs, retryAfter, body: response.body };
  }

  /**
   * Requests of every kind, repeatedly, from the moment the fault is there for the length of an outage, and beside
   * them `meanwhile`, after whose end each kind is sent at least once more; then the network works again.
   */
  async during(fault: NetworkFault, meanwhile: () => Promise<unknown> = async () => undefined): Promise<Timed[]> {
    const known = taskIdOf(await this.submitImage());
    this.proxy.set(fault);
    const beside = meanwhile();
    const asking = this.askThrough(known, beside);
    try {
      await beside;
    } finally {
      // No request is sent any more when it is over, also where it failed.
      await asking;
      this.proxy.set('pass');
    }
    return asking;
  }

  /** An image that is ordered now is made, soon after the outage. */
  async untilImagesAreMade(): Promise<void> {
    await this.until('images', () => this.makesImages());
  }

  /** The process keeps serving, and reports the fault. */
  untilDegraded(reason: string): Promise<unknown> {
    return this.until(`degraded, ${reason}`, async () => {
      const { status, says, reasons } = await this.readiness();
      return status === 200 && says === 'degraded' && JSON.stringify(reasons) === JSON.stringify([reason]);
    });
  }

  untilIt(says: 'ready' | 'not_ready'): Promise<unknown> {
    return this.until(says, async () => (await this.readiness()).says === says);
  }

  /** What `/readyz` says of the servers; that the sandbox sells here is no news. */
  async readiness(): Promise<{ status: number; says: unknown; reasons: readonly string[] }> {
    const { status, body } = await this.ask('GET', '/readyz');
    const reasons = (body['reasons'] as string[]).filter((reason) => !reason.startsWith('sandbox: '));
    return { status, says: body['status'] === 'degraded' && reasons.length === 0 ? 'ready' : body['status'], reasons };
  }

  /** Waits until everything has ended; answers the accepted images that were not made, and all money that does not add up. */
  async losses(answered: readonly Timed[]): Promise<unknown[]> {
    const accepted = answered.filter(({ what, status }) => what.startsWith('POST /v1/images') && status === 200);
    await this.until('tasks end', async () => {
      const { rows } = await this.gateway.database.query<{ open: bigint }>({
        text: `select (select count(*) from task where finished_at is null) + (select count(*) from request_hold) as open`,
      });
      return rows[0]?.open === 0n;
    });
    const lost: unknown[] = [];
    for (const taskId of accepted.map(taskIdOf)) {
      const { body } = await this.gateway.send<{ data: TaskView }>('GET', `/v1/tasks/${taskId}`);
      if (body.data.status !== 'completed') lost.push(body.data);
    }
    for (const text of [UNBALANCED, WRONGLY_PAID]) lost.push(...(await this.gateway.database.query({ text })).rows);
    return lost;
  }

  async makesImages(): Promise<boolean> {
    const submitted = await this.submitImage();
    if (submitted.status !== 200) return false;
    const task = await this.gateway.waitForTask(taskIdOf(submitted), HEALED_WITHIN_MS).catch(() => null);
    return task?.status === 'completed';
  }

  private submitImage(): Promise<Timed> {
    return this.ask('POST', '/v1/images/generations', IMAGE);
  }

  private async askThrough(knownTask: string, beside: Promise<unknown>): Promise<Timed[]> {
    const untilMs = performance.now() + OUTAGE_MS;
    let isBesideOver = false;
    const noteIt = (): void => void (isBesideOver = true);
    beside.then(noteIt, noteIt);
    const kinds = [
      () => this.submitImage(),
      () => this.ask('GET', `/v1/tasks/${knownTask}`),
      () => this.ask('GET', '/v1/tasks'),
      () => this.ask('GET', '/v1/balance'),
      // A key that is in no cache has to be looked up.
      () => this.ask('GET', '/v1/balance', undefined, `sk-unknown-${performance.now()}`),
      () => this.ask('POST', '/v1/responses', { model: 'vendor-5', input: 'hello', max_output_tokens: 50 }),
    ];
    const answered: Timed[] = [];
    await Promise.all(
      kinds.map(async (send) => {
        for (let isLast = false; !isLast;) {
          isLast = isBesideOver && performance.now() >= untilMs;
          answered.push(await send());
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      }),
    );
    return answered;
  }

  private until(what: string, isTrue: () => Promise<boolean>): Promise<unknown> {
    const beganMs = ownTimeMs();
    const inTime = async (): Promise<boolean> => {
      if (await isTrue()) return true;
      if (ownTimeMs() - beganMs > HEALED_WITHIN_MS) throw new Error(`not within ${HEALED_WITHIN_MS} ms: ${what}`);
      return false;
    };
    return eventually(inTime, { pauseMs: 50, shows: () => what });
  }
}
