import { mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type EmbeddedPostgres, migrate, startEmbeddedPostgres } from '#platform';
import { eventually, FaultProxy } from '#testing';
import type { GatewayPlace } from '../harness/test-gateway.js';
import { Outage, REQUEST_LIMIT_MS } from './testing/outage.js';

/** More than a gateway uses, and few enough to take all of them. */
const CONNECTIONS = 30;
const SETTINGS = {
  max_connections: String(CONNECTIONS),
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '16MB',
};

/** Every statement that needs room for a new row fails, as it does on a full disk. */
const FULL_FOR_WRITERS = `
create function full_disk() returns trigger language plpgsql as $$
begin
  raise exception 'could not extend file: No space left on device' using errcode = 'disk_full';
end $$;
create trigger full_disk before insert on task for each statement execute function full_disk();
create trigger full_disk before insert on ledger_entry for each statement execute function full_disk();`;
const ROOM_FOR_WRITERS = 'drop function full_disk cascade';

describe('A Postgres that is full', () => {
  let folder: string;
  let server: EmbeddedPostgres;
  let place: GatewayPlace;
  let operator: Client;
  let proxy: FaultProxy;
  let outage: Outage;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'full-postgres-'));
    server = await startEmbeddedPostgres(folder, { settings: SETTINGS });
    await migrate(server.url);
    const dataDirectory = join(folder, 'data');
    mkdirSync(dataDirectory);
    place = { databaseUrl: server.url, dataDirectory, remove: async () => undefined };
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    operator = await connected();
    outage = await Outage.prepare(
      async () => (proxy = await FaultProxy.start(place.databaseUrl)),
      () => ({ place, databaseBehind: async (url) => proxy.urlOf(url) }),
    );
  });
  afterEach(async () => {
    await outage.close();
    await operator.end();
  });

  async function connected(url = server.url): Promise<Client> {
    const client = new Client(url);
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Requests are answered in time or refused with a time to wait. Answers what of the accepted is lost or wrongly paid once all is well. */
  async function losses(begin: () => Promise<void>, end: () => Promise<void>): Promise<unknown[]> {
    const paidBefore = await paidTexts();
    const answered = await outage.during('pass', begin);
    const wrong = answered.filter(
      ({ status, tookMs }) => ![200, 401, 503].includes(status) || tookMs > REQUEST_LIMIT_MS,
    );
    expect(wrong).toEqual([]);
    expect(answered.filter(({ status, retryAfter }) => status === 503 && !(Number(retryAfter) > 0))).toEqual([]);
    expect(answered.some(({ what, status }) => what.startsWith('POST /v1/images') && status === 503)).toBe(true);
    await end();
    await outage.untilImagesAreMade();
    await outage.untilIt('ready');
    const lost = await outage.losses(answered);
    const texts = answered.filter(({ what, status }) => what === 'POST /v1/responses' && status === 200);
    expect((await paidTexts()) - paidBefore).toBe(texts.length);
    return lost;
  }

  /** How many text requests were charged until now. */
  async function paidTexts(): Promise<number> {
    const { rows } = await operator.query<{ paid: string }>(
      'select count(*) as paid from usage_record where task_id is null and amount_micros > 0',
    );
    return Number(rows[0]?.paid);
  }

  it('without a free connection: requests get 503 with a time to wait, and all is well once there are some', async () => {
    const others: Client[] = [];
    const takeAll = async (): Promise<void> => {
      for (;;) {
        try {
          others.push(await connected());
        } catch {
          return;
        }
      }
    };
    const lost = await losses(
      async () => {
        await eventually(async () => {
          proxy.cut();
          await takeAll();
          return others.length === CONNECTIONS - 1;
        });
        await outage.untilIt('not_ready');
        await expect(connected()).rejects.toMatchObject({ code: '53300' });
      },
      async () => {
        await Promise.all(others.map((client) => client.end()));
      },
    );
    expect(lost).toEqual([]);
  });

  it('refusing what needs room: requests get 503 with a time to wait, and all is well once there is some', async () => {
    const lost = await losses(
      async () => void (await operator.query(FULL_FOR_WRITERS)),
      async () => void (await operator.query(ROOM_FOR_WRITERS)),
    );
    expect(lost).toEqual([]);
  });
});
