import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { ReconciliationService } from '#features';
import { Database } from '#platform';
import { FILE_CRASH_POINTS } from '#runtime';
import { eventually, PATIENT_WITH_POSTGRES, uniqueRedisPrefix } from '#testing';
import { type SpawnedProcess, spawnProgram } from '../harness/spawned-process.js';
import { createGatewayPlace, type GatewayPlace, TEST_KEY } from '../harness/test-gateway.js';
import { FakeTextVendor } from '../harness/text-vendor/fake-text-vendor.js';

/** Each costs the start of a process; the other places are cut in `crashes.spec.ts` without one. */
const POINTS = process.env['FILE_CRASHES'] === 'all' ? FILE_CRASH_POINTS : (['after-passages-written'] as const);

/** What the vendor counts for a round. */
const ROUND_MICROS = 80;

const TEXT = 'The lighthouse of Vesterholm was lit for the first time in 1871.';

describe('Ended processes', () => {
  let place: GatewayPlace;
  let database: Database;
  let vendor: FakeTextVendor;
  let gateway: SpawnedProcess | undefined;
  let baseUrl = '';
  let environment: Record<string, string>;
  let searches = 0;
  const silent = createServer(() => {
    searches += 1;
  });
  beforeAll(async () => {
    place = await createGatewayPlace();
    database = new Database(place.databaseUrl);
    vendor = await FakeTextVendor.start();
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const upstreams = join(place.dataDirectory, 'upstreams.yaml');
    await writeFile(
      upstreams,
      `upstreams: [{ id: chat, protocol: chat, base_url: "${vendor.baseUrl}", key: k, models: { vendor-5: vendor-chat } }]`,
    );
    environment = {
      DATABASE_URL: place.databaseUrl,
      ...PATIENT_WITH_POSTGRES,
      DATABASE_POOL_SIZE: '4',
      DATA_DIR: place.dataDirectory,
      KEY_PEPPER: 'a-pepper-for-tests-only',
      GATEWAY_API_KEY: TEST_KEY,
      PORT: '0',
      // Prices to sell at.
      SANDBOX_BILLING_ENABLED: 'true',
      QUEUE_PREFIX: uniqueRedisPrefix(),
      UPSTREAMS_FILE: upstreams,
      WEB_SEARCH_ENGINE: 'searxng',
      WEB_SEARCH_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      LOG_LEVEL: 'info',
      TEXT_DRAIN_SECONDS: '1',
      SHUTDOWN_GRACE_SECONDS: '1',
    };
  });
  afterAll(async () => {
    if (gateway?.child.exitCode === null) await gateway.end('SIGKILL');
    silent.closeAllConnections();
    silent.close();
    await vendor.stop();
    await database.close();
    await place.remove();
  });

  /** What had time to pass, has passed: leases and uploads of the dead have run out. */
  async function start(dieAt = ''): Promise<OpenAI> {
    await database.query({ text: 'update file_index set due_at = now()' });
    await database.query({ text: `update uploaded_file set expires_at = now() where state = 'uploading'` });
    gateway = await spawnProgram('dist/tests/harness/dying-gateway.js', { ...environment, DIE_AT: dieAt });
    const [, port] = await gateway.waitFor(/API on http:\/\/127\.0\.0\.1:(\d+) is ready/);
    baseUrl = `http://127.0.0.1:${port}`;
    return new OpenAI({ apiKey: TEST_KEY, baseURL: `${baseUrl}/v1`, maxRetries: 0 });
  }

  const count = async (from: string): Promise<number> =>
    (await database.query<{ count: number }>({ text: `select count(*)::integer as count from ${from}` })).rows[0]
      ?.count ?? -1;

  const stored = async (): Promise<string[]> =>
    (await readdir(join(place.dataDirectory, 'media'), { recursive: true })).filter((name) =>
      name.startsWith('uploads/'),
    );

  async function expectWhole(): Promise<void> {
    expect(
      await count(
        `file_passage p left join file_index i on i.id = p.index_id
          where i.state is distinct from 'completed' and i.file_id is not null`,
      ),
    ).toBe(0);
    expect(await count(`file_index where state = 'completed' and id not in (select index_id from file_passage)`)).toBe(
      0,
    );
    expect(
      await count(
        `file_term where index_id not in (select id from file_index where state = 'completed' or file_id is null)`,
      ),
    ).toBe(0);
    expect(await count(`uploaded_file where state = 'ready' and sha256 is null`)).toBe(0);
    expect(await count(`file_usage where files <> (select count(*) from uploaded_file where state = 'ready')`)).toBe(0);
    const { rows } = await database.query<{ key: string }>({ text: 'select store_key as key from uploaded_file' });
    const known = new Set(rows.map(({ key }) => key));
    expect((await stored()).filter((name) => !known.has(name))).toEqual([]);
  }

  const isIdle = async (): Promise<boolean> =>
    (await count(`uploaded_file where state <> 'ready'`)) === 0 &&
    (await count(`file_index where state in ('waiting', 'working')`)) === 0 &&
    (await count('request_hold')) === 0;

  const upload = async (client: OpenAI): Promise<string> =>
    (await client.files.create({ file: await toFile(Buffer.from(TEXT), 'a.txt'), purpose: 'assistants' })).id;

  /** Sends the first half of an upload. */
  function beginUpload(): Socket {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(
      `POST /v1/files HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TEST_KEY}\r\ncontent-length: 100000\r\n` +
        `content-type: multipart/form-data; boundary=b\r\n\r\n--b\r\ncontent-disposition: form-data; name="file"; ` +
        `filename="half.txt"\r\n\r\n${TEXT}`,
    );
    return socket;
  }

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'by %s leave no holds, one charge for each round, and nothing half visible after an upload, a running tool and a running round',
    async (signal) => {
      const client = await start();
      const kept = await upload(client);
      const known = await count('usage_record');
      vendor.gate = undefined;
      searches = 0;
      let opened = (): void => undefined;
      const never = new Promise<void>((resolve) => (opened = resolve));
      vendor.script = ({ text, result }) => {
        const tool = text.includes('files') ? 'file_search' : 'web_search';
        // The second round of a request never ends.
        if (result !== undefined) vendor.gate = { at: 'start', opened: never };
        const call = { id: 'call_1', name: tool, args: { query: 'lighthouse' } };
        return result === undefined ? { reasoning: undefined, text: '', call } : undefined;
      };
      const ask = (input: string, type: 'file_search' | 'web_search'): Promise<unknown> => {
        const tools = (type === 'file_search' ? [{ type, vector_store_ids: [] }] : [{ type }]) as never;
        return client.responses.create({ model: 'vendor-5', input, tools }).catch((error: unknown) => error);
      };
      const socket = beginUpload();
      const answers = [ask('And the web?', 'web_search')];
      await eventually(() => searches > 0);
      answers.push(ask('What do the files say?', 'file_search'));
      await eventually(() => vendor.gate !== undefined);
      await eventually(async () => (await count(`uploaded_file where state = 'uploading'`)) === 1);
      expect(await count('request_hold')).toBeGreaterThan(0);
      await gateway?.end(signal);
      opened();
      socket.destroy();
      const isTold = signal === 'SIGTERM';
      const told = isTold ? OpenAI.InternalServerError : OpenAI.APIConnectionError;
      for (const answer of await Promise.all(answers)) expect(answer).toBeInstanceOf(told);
      const left = [`uploaded_file where state <> 'ready'`, `file_index where state = 'working'`, 'request_hold'];
      // A process that is killed leaves what the next one ends.
      expect(isTold ? await Promise.all(left.map(count)) : [0, 0, 0]).toEqual([0, 0, 0]);

      const next = await start();
      await eventually(isIdle, { limitMs: 10_000 });
      expect((await next.files.list()).data.map(({ id }) => id)).toEqual([kept]);
      await expectWhole();
      const { rows } = await database.query({
        text: 'select store_key as key from uploaded_file where id = $1',
        values: [kept],
      });
      expect((await stored()).map((key) => ({ key }))).toEqual(rows);
      const { rows: charges } = await database.query<{ request: string; amount: bigint }>({
        text: 'select request_id as request, amount_micros as amount from usage_record order by id offset $1',
        values: [known],
      });
      expect(new Set(charges.map(({ request }) => request)).size).toBe(charges.length);
      // Each second round said nothing; the first of the search is charged only by a process that still could.
      expect(charges.map(({ amount }) => Number(amount)).toSorted((a, b) => a - b)).toEqual(
        isTold ? [0, 0, ROUND_MICROS, ROUND_MICROS] : [0, 0, ROUND_MICROS],
      );
      expect(await count('account where held_micros <> 0')).toBe(0);
      expect(await count('api_key where held_micros <> 0')).toBe(0);
      expect((await new ReconciliationService(database).run())?.findings).toEqual([]);
      await next.files.delete(kept);
      await gateway?.end('SIGKILL');
    },
  );

  it.each(POINTS)('at the failpoint %s are followed by one that finishes the file', async (point) => {
    const client = await start(point);
    const store = await client.vectorStores.create({}).catch(() => undefined);
    const id = await upload(client).catch(() => undefined);
    if (point === 'after-bytes-removed' && id !== undefined) {
      await eventually(async () => (await count(`file_index where state = 'completed'`)) > 0);
      await client.files.delete(id);
    }
    expect(await gateway?.exited()).toBeNull();
    await expectWhole();

    const next = await start();
    await eventually(isIdle);
    await expectWhole();
    const files = (await next.files.list()).data;
    // A file that was acknowledged exists, and an existing one is found.
    const acknowledged = point === 'after-bytes-removed' ? undefined : id;
    expect([undefined, ...files.map((file) => file.id)]).toContain(acknowledged);
    for (const file of files) {
      if (!store) break;
      await next.vectorStores.files.createAndPoll(store.id, { file_id: file.id }, { pollIntervalMs: 50 });
      const { data } = await next.vectorStores.search(store.id, { query: 'lighthouse' });
      expect(data.map((passage) => passage.file_id)).toContain(file.id);
      await next.files.delete(file.id);
    }
    await gateway?.end('SIGKILL');
  });
});
