import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CATALOG, MODEL_IDS, type ModelFamily, type TaskView } from '#contracts';
import type { Database } from '#platform';
import { eventually, FaultProxy } from '#testing';
import { localRequest } from '../harness/local-request.js';
import { type MediaHost, startMediaHost } from '../harness/media-host.js';
import {
  createGatewayPlace,
  type GatewayPlace,
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from '../harness/test-gateway.js';

const VIDEO = { model: 'alpha-2.0', prompt: 'waves', duration: 4, resolution: '480p' };
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse' };

/** What a gateway took for one task. */
interface Taken {
  readonly model: string;
  readonly state: string;
  readonly charged: bigint;
  readonly bills: number;
}

async function takenBy(database: Database): Promise<Taken[]> {
  const text = `select model, state, coalesce(charged_micros, 0) as charged,
      (select count(*)::integer from usage_record u where u.task_id = t.id) as bills
    from task t order by model, state`;
  return (await database.query<Taken & object>({ text })).rows;
}

const modelsOf = (tasks: readonly Taken[]): string[] => tasks.map(({ model }) => model);

describe('A gateway with another gateway as upstream', () => {
  let host: MediaHost;
  let maker: TestGateway;
  let road: FaultProxy;
  let place: GatewayPlace;
  let seller: TestGateway;

  beforeAll(async () => {
    host = await startMediaHost();
    maker = await startTestGateway({ environment: { MEDIA_FETCH_ALLOW: host.address } });
    road = await FaultProxy.start(maker.baseUrl);
    place = await createGatewayPlace();
    seller = await startSeller();
  });
  afterAll(async () => {
    await seller.stop();
    await place.remove();
    await road.close();
    await maker.stop();
    await host.stop();
  });
  beforeEach(async () => {
    for (const { database } of [maker, seller])
      await database.query({ text: 'truncate task, task_file, usage_record, task_call cascade' });
  });

  async function startSeller(): Promise<TestGateway> {
    const file = join(place.dataDirectory, 'upstreams.yaml');
    const entry = {
      id: 'peer',
      protocol: 'gateway',
      base_url: road.urlOf(maker.baseUrl),
      key: TEST_KEY,
      models: 'all',
    };
    await writeFile(file, JSON.stringify({ media_upstreams: [entry] }));
    const allowed = `${host.address},${new URL(maker.baseUrl).host}`;
    return startTestGateway({ place, environment: { UPSTREAMS_FILE: file, MEDIA_FETCH_ALLOW: allowed } });
  }

  const video = (words: string) => seller.submit('/v1/videos/generations', { ...VIDEO, prompt: `${words} waves` });
  const image = (fields: object) => seller.submit('/v1/images/generations', { ...IMAGE, ...fields });
  const running = (taskId: string) =>
    eventually(async () => {
      const text = `select state from task where id = $1 and state = 'running'`;
      return (await seller.database.query({ text, values: [taskId] })).rows.length > 0;
    });

  async function expectFiles(task: TaskView, count = 1): Promise<void> {
    const files = task.result?.videos ?? task.result?.images ?? [];
    expect(files).toHaveLength(count);
    for (const { url } of files) {
      expect(url).toContain(seller.baseUrl);
      expect((await fetch(url ?? '')).status).toBe(200);
    }
  }

  /** The prices of the two are the same, and so is what each took. */
  async function expectBilledOnceAtBoth(tasks: number): Promise<void> {
    const [sold, made] = await Promise.all([takenBy(seller.database), takenBy(maker.database)]);
    expect(sold).toEqual(made);
    expect(sold).toHaveLength(tasks);
    for (const each of sold) expect(each).toMatchObject({ state: 'completed', bills: 1 });
  }

  it('ends refused and cancelled orders at both sides, and charges neither', async () => {
    const refused = await seller.waitForTask(await image({ prompt: '[sandbox:fail=content_policy] x' }));
    expect(refused).toMatchObject({
      status: 'failed',
      error: { code: 'content_policy' },
      usage: { amount: '0.000000' },
    });
    const hanging = await video('[sandbox:hang]');
    await running(hanging);
    await seller.send('POST', `/v1/tasks/${hanging}/cancel`);
    expect(await seller.waitForTask(hanging)).toMatchObject({ status: 'cancelled', usage: { amount: '0.000000' } });
    for (const { database } of [maker, seller])
      expect((await takenBy(database)).map(({ state, charged }) => [state, charged])).toEqual([
        ['cancelled', 0n],
        ['failed', 0n],
      ]);
  });

  it('continues running orders after a restart, and orders nothing twice', async () => {
    const [begun, pictured] = await Promise.all([
      video('[sandbox:delay=2500]'),
      image({ image_urls: [host.url('/png/800x600')] }),
    ]);
    await running(begun);
    await seller.stop();
    seller = await startSeller();
    const tasks = [await seller.waitForTask(begun), await seller.waitForTask(pictured)];
    expect(tasks.map(({ status }) => status)).toEqual(['completed', 'completed']);
    for (const task of tasks) await expectFiles(task);
    await expectBilledOnceAtBoth(2);
  });

  it('waits for the other while it is unavailable, and fails no task for it', async () => {
    const begun = await video('[sandbox:delay=1500]');
    await running(begun);
    road.set('refuse');
    const begins = await image({});
    await eventually(async () => {
      const text = `select from task_call where task_id = $1 and outcome in ('unavailable', 'ambiguous')`;
      return (await seller.database.query({ text, values: [begins] })).rows.length >= 2;
    });
    const { rows } = await seller.database.query({ text: 'select distinct failures from task' });
    expect(rows).toEqual([{ failures: 0 }]);
    road.set('pass');
    for (const id of [begun, begins]) await expectFiles(await seller.waitForTask(id));
    await expectBilledOnceAtBoth(2);
  });

  it('orders every model of the catalogue, each once', async () => {
    const families = CATALOG as readonly ModelFamily[];
    const orders = families.flatMap((family) =>
      family.models.map((model) => [family.path, localRequest(host, family, model)] as const),
    );
    await Promise.all(orders.map(([path, body]) => seller.submit(path, { ...body, prompt: '[sandbox:hang] a heron' })));
    const made = await eventually(async () => {
      const tasks = await takenBy(maker.database);
      // A model that is told what to show in other fields than the prompt does not hang.
      const isTaken = tasks.every(({ state }) => state === 'running' || state === 'completed');
      return tasks.length >= MODEL_IDS.length && isTaken && tasks;
    });
    expect(modelsOf(made)).toEqual(modelsOf(await takenBy(seller.database)));
    expect(new Set(modelsOf(made)).size).toBe(MODEL_IDS.length);
  });
});
