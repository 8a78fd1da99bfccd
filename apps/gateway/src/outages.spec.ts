import type { JsonObject, TaskView } from '#contracts';
import { describeWithRedis, eventually, FaultProxy, type NetworkFault, type S3Server, startS3Server } from '#testing';
import { startTestGateway, TEST_KEY, type TestGateway } from './testing/test-gateway.js';

/** A request may cost 5 seconds while a server is silent; a busy machine may need as much again. One that hangs lasts as long as the outage. */
const REQUEST_LIMIT_MS = 10_000;
/** So long after a server is back everything works again: within 10 seconds, and more on a busy machine. */
const HEALED_WITHIN_MS = 40_000;
/** How long each outage lasts: longer than every limit of a single wait. */
const OUTAGE_MS = 6_000;

const PICTURE = { model: 'eta-image-2.0', prompt: 'a quiet street' };

interface Timed {
  readonly what: string;
  readonly status: number;
  readonly tookMs: number;
  readonly retryAfter: string | null;
  readonly body: JsonObject;
}

let gateway: TestGateway;
let proxy: FaultProxy;

async function ask(method: string, path: string, body?: JsonObject, key = TEST_KEY): Promise<Timed> {
  const beganMs = performance.now();
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await gateway.send(method, path, body, headers);
  const tookMs = performance.now() - beganMs;
  const retryAfter = answer.headers.get('retry-after');
  return { what: `${method} ${path}`, status: answer.status, tookMs, retryAfter, body: answer.body };
}

const submitPicture = (): Promise<Timed> => ask('POST', '/v1/images/generations', PICTURE);
const taskIdOf = ({ body }: Timed): string => (body['data'] as { task_id: string }[])[0]?.task_id ?? '';

/** Requests of every kind, again and again, for the length of an outage. */
async function askThrough(lengthMs: number, knownTask: string): Promise<Timed[]> {
  const untilMs = performance.now() + lengthMs;
  const kinds = [
    submitPicture,
    () => ask('GET', `/v1/tasks/${knownTask}`),
    () => ask('GET', '/v1/tasks'),
    () => ask('GET', '/v1/balance'),
    // A key that nobody remembers has to be looked up.
    () => ask('GET', '/v1/balance', undefined, `sk-unknown-${performance.now()}`),
    () => ask('POST', '/v1/responses', { model: 'vendor-5', input: 'hello', max_output_tokens: 50 }),
  ];
  const answered: Timed[] = [];
  await Promise.all(
    kinds.map(async (send) => {
      while (performance.now() < untilMs) {
        answered.push(await send());
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }),
  );
  return answered;
}

/** How long it takes from now on until `isTrue`. @throws Error after `limitMs`. */
async function until(what: string, limitMs: number, isTrue: () => Promise<boolean>): Promise<number> {
  const beganMs = performance.now();
  await eventually(isTrue, { limitMs, pauseMs: 50, shows: () => what });
  return performance.now() - beganMs;
}

const UNBALANCED = `
select id from account a where held_micros <> 0
  or available_micros <> (select coalesce(sum(case when credit = 'available' then amount_micros else 0 end
    - case when debit = 'available' then amount_micros else 0 end), 0) from ledger_entry e where e.account_id = a.id)
  or used_micros <> (select coalesce(sum(amount_micros), 0) from ledger_entry e where e.account_id = a.id and kind = 'capture')`;
const WRONGLY_PAID = `
select id from task t where
  (select count(*) from ledger_entry e where e.task_id = t.id and e.kind = 'hold') <> 1
  or (select count(*) from ledger_entry e where e.task_id = t.id and e.kind = 'capture') <> (state = 'completed')::integer`;

/** Everything has ended, every promise is kept and all money adds up. */
async function expectAllWell(promised: readonly string[]): Promise<void> {
  await until('tasks end', 45_000, async () => {
    const { rows } = await gateway.database.query<{ open: bigint }>({
      text: `select (select count(*) from task where finished_at is null) + (select count(*) from request_hold) as open`,
    });
    return rows[0]?.open === 0n;
  });
  for (const taskId of promised)
    expect((await gateway.send<{ data: TaskView }>('GET', `/v1/tasks/${taskId}`)).body.data.status).toBe('completed');
  for (const text of [UNBALANCED, WRONGLY_PAID]) expect((await gateway.database.query({ text })).rows).toEqual([]);
}

/** A picture that is ordered now is made. */
async function makesPictures(): Promise<boolean> {
  const submitted = await submitPicture();
  if (submitted.status !== 200) return false;
  const task = await gateway.waitForTask(taskIdOf(submitted), HEALED_WITHIN_MS).catch(() => null);
  return task?.status === 'completed';
}

/** What `/readyz` says of the servers; that the sandbox sells here is no news. */
const readiness = async () => {
  const { status, body } = await ask('GET', '/readyz');
  const reasons = (body['reasons'] as string[]).filter((reason) => !reason.startsWith('sandbox: '));
  return { status, says: body['status'] === 'degraded' && reasons.length === 0 ? 'ready' : body['status'], reasons };
};

/** The process goes on serving, and says what is amiss. */
const untilDegraded = (reason: string): Promise<number> =>
  until(`degraded, ${reason}`, HEALED_WITHIN_MS, async () => {
    const { status, says, reasons } = await readiness();
    return status === 200 && says === 'degraded' && JSON.stringify(reasons) === JSON.stringify([reason]);
  });

const LEASES = { TASK_LEASE_SECONDS: '2' };
const FAULTS = ['half-open', 'black-hole'] as const satisfies NetworkFault[];

describe('Postgres falls silent', () => {
  beforeEach(async () => {
    gateway = await startTestGateway({
      environment: LEASES,
      databaseBehind: async (url) => {
        proxy = await FaultProxy.start(url);
        return proxy.urlOf(url);
      },
    });
  });
  afterEach(async () => {
    await gateway.stop();
    await proxy.close();
  });

  it.each([...FAULTS, 'slow', 'drip'] as const)(
    '%s: no request hangs, and all is well seconds after',
    async (fault) => {
      // A slow server is no silent one: each of a request's statements may take its whole time.
      const limitMs = fault === 'slow' || fault === 'drip' ? 3 * REQUEST_LIMIT_MS : REQUEST_LIMIT_MS;
      const known = taskIdOf(await submitPicture());
      proxy.set(fault);
      const asked = askThrough(OUTAGE_MS, known);
      if (fault === 'black-hole')
        await until('unready', HEALED_WITHIN_MS, async () => (await readiness()).says === 'not_ready');
      const answered = await asked;
      expect(answered.filter(({ status, tookMs }) => ![200, 401, 503].includes(status) || tookMs > limitMs)).toEqual(
        [],
      );
      expect(answered.filter(({ status, retryAfter }) => status === 503 && !(Number(retryAfter) > 0))).toEqual([]);
      proxy.set('pass');
      await until('pictures', HEALED_WITHIN_MS, makesPictures);
      expect(await readiness()).toMatchObject({ status: 200, says: 'ready' });
      const accepted = answered.filter(({ what, status }) => what.startsWith('POST /v1/images') && status === 200);
      await expectAllWell(accepted.map(taskIdOf));
    },
  );
});

describeWithRedis('Redis falls silent', (redisUrl) => {
  beforeEach(async () => {
    proxy = await FaultProxy.start(redisUrl);
    gateway = await startTestGateway({ environment: LEASES, redisUrl: proxy.urlOf(redisUrl) });
  });
  afterEach(async () => {
    await gateway.stop();
    await proxy.close();
  });

  it.each(FAULTS)('%s: requests are served, the process says degraded, and wake-ups are sent again', async (fault) => {
    const known = taskIdOf(await submitPicture());
    proxy.set(fault);
    const asked = askThrough(OUTAGE_MS, known);
    if (fault === 'black-hole') await untilDegraded('queue: the queue takes no work');
    const answered = await asked;
    expect(answered.filter(({ status, tookMs }) => ![200, 401].includes(status) || tookMs > REQUEST_LIMIT_MS)).toEqual([]);
    proxy.set('pass');
    await until('pictures', HEALED_WITHIN_MS, makesPictures);
    await until('ready', HEALED_WITHIN_MS, async () => (await readiness()).says === 'ready');
    const accepted = answered.filter(({ what }) => what.startsWith('POST /v1/images'));
    await expectAllWell(accepted.map(taskIdOf));
  });
});

describe('The media store falls silent', () => {
  let s3: S3Server;
  beforeAll(async () => {
    s3 = await startS3Server();
  });
  afterAll(() => s3.close());
  beforeEach(async () => {
    proxy = await FaultProxy.start(s3.endpoint);
    gateway = await startTestGateway({
      environment: {
        ...LEASES,
        MEDIA_S3_ENDPOINT: proxy.urlOf(s3.endpoint).replace(/\/$/, ''),
        MEDIA_S3_BUCKET: s3.bucket,
        MEDIA_S3_ACCESS_KEY_ID: s3.accessKeyId,
        MEDIA_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
      },
    });
  });
  afterEach(async () => {
    await gateway.stop();
    await proxy.close();
  });

  it.each(FAULTS)('%s: requests are served, and what was made is stored once it is back', async (fault) => {
    await makesPictures();
    const known = taskIdOf(await submitPicture());
    proxy.set(fault);
    const asked = askThrough(OUTAGE_MS, known);
    if (fault === 'black-hole') await untilDegraded('store: files cannot be written');
    const link = new URL(await gateway.platform.store.url('media/none/0.png', { ttlSeconds: null }));
    const file = await ask('GET', link.pathname + link.search);
    expect(file.tookMs).toBeLessThan(REQUEST_LIMIT_MS);
    expect(file).toMatchObject(fault === 'black-hole' ? { status: 503, retryAfter: '2' } : {});
    const answered = await asked;
    expect(answered.filter(({ status }) => ![200, 401].includes(status))).toEqual([]);
    proxy.set('pass');
    await until('pictures', HEALED_WITHIN_MS, makesPictures);
    const accepted = answered.filter(({ what }) => what.startsWith('POST /v1/images'));
    await expectAllWell(accepted.map(taskIdOf));
  });
});
