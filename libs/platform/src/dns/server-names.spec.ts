import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, eventually, startNameServer, startRedisServer, type TestNameServer } from '#testing';
import { BoundedClient } from '../database/bounded-client.js';
import { parseSearchRules, ServerNames, type ServerNamesOptions, ServerSocket } from './server-names.js';
import { parseRedisAddress } from '../redis/redis-address.js';
import { connect, FAIL_FAST } from '../redis/redis-connection.js';

/** What the name server answers is waited for; what it does not answer in this time, never. */
const PATIENT: ServerNamesOptions = { tryMs: 30_000, limitMs: 60_000, otherFamilyMs: 60_000 };
const HASTY: ServerNamesOptions = { tryMs: 150, limitMs: 400 };

describe("The names of this process' own servers", () => {
  const server = { isSilent: false };
  /** Lets names below `held.test` be answered: there are none. */
  let answerHeld = (): void => undefined;
  const held = new Promise<null>((resolve) => {
    answerHeld = () => resolve(null);
  });
  let folder: string;
  let nameServer: TestNameServer;
  let names: ServerNames;
  beforeAll(async () => {
    nameServer = await startNameServer((name) => {
      if (server.isSilent || name.endsWith('.slow.test')) return 'silent';
      if (name.endsWith('.held.test')) return held;
      if (name === 'both.test') return { addresses: ['127.0.0.1', '::1'] };
      return ['db.space.test', 'known.test', 'far.away.test'].includes(name) ? { addresses: ['127.0.0.1'] } : null;
    });
    folder = await mkdtemp(join(tmpdir(), 'names-'));
    await writeFile(join(folder, 'hosts'), '127.0.0.1 listed\n');
    await writeFile(
      join(folder, 'resolv.conf'),
      'nameserver 127.0.0.1\nsearch space.test other.test\noptions ndots:2\n',
    );
    names = newNames();
  });
  afterEach(() => {
    server.isSilent = false;
  });
  afterAll(async () => {
    nameServer.close();
    await rm(folder, { recursive: true });
  });

  const newNames = (limits: ServerNamesOptions = PATIENT): ServerNames =>
    new ServerNames({
      servers: [nameServer.address],
      hostsFile: join(folder, 'hosts'),
      searchFile: join(folder, 'resolv.conf'),
      ...limits,
    });
  const addressesOf = async (host: string, by = names): Promise<string[]> =>
    (await by.addressesOf(host)).map(({ address }) => address);
  const knows = (by: ServerNames, host: string): Promise<true> =>
    eventually(() =>
      by.addressesOf(host).then(
        () => true,
        () => false,
      ),
    );
  const lookedUp = (host: string, options: object): Promise<unknown[]> =>
    new Promise((resolve) => names.lookup(host, options, (...answer) => resolve(answer)));

  it.each([
    ['192.0.2.7', ['192.0.2.7']],
    ['::1', ['::1']],
    ['listed', ['127.0.0.1']],
    ['db', ['127.0.0.1']],
    ['known.test', ['127.0.0.1']],
    ['far.away.test', ['127.0.0.1']],
    ['far.away.test.', ['127.0.0.1']],
    ['both.test', ['127.0.0.1', '::1']],
  ])('are found as the system finds them: %s', async (host, addresses) => {
    expect(await addressesOf(host)).toEqual(addresses);
  });

  it('are given in the form that is asked for', async () => {
    expect(await lookedUp('both.test', {})).toEqual([null, '127.0.0.1', 4]);
    expect(await lookedUp('both.test', { family: 6 })).toEqual([null, '::1', 6]);
    expect(await lookedUp('both.test', { all: true, family: 4 })).toEqual([
      null,
      [{ address: '127.0.0.1', family: 4 }],
    ]);
    expect(await lookedUp('known.test', { family: 6 })).toEqual([
      expect.objectContaining({ code: 'ENOTFOUND' }),
      '',
      0,
    ]);
    expect(await lookedUp('unknown.invalid', {})).toEqual([expect.objectContaining({ code: 'ENOTFOUND' }), '', 0]);
  });

  it('keep their last addresses while their name server is silent, and are queried again when it responds', async () => {
    const by = newNames(HASTY);
    await knows(by, 'known.test');
    server.isSilent = true;
    const askedBefore = nameServer.asked.length;
    // What was heard is believed for a second; then the silence is noticed.
    await eventually(async () => {
      expect(await addressesOf('known.test', by)).toEqual(['127.0.0.1']);
      return nameServer.asked.length > askedBefore;
    });
    expect(await addressesOf('known.test', by)).toEqual(['127.0.0.1']);
  });

  it('of others that are not answered delay no other lookup', async () => {
    const slow = Array.from({ length: 100 }, (_, index) => names.addressesOf(`v${index}.held.test`));
    const ends = Promise.allSettled(slow);
    await eventually(() => new Set(nameServer.asked.filter((name) => name.endsWith('.held.test'))).size === 100);
    expect(await newNames().addressesOf('far.away.test')).toHaveLength(1);
    expect(await addressesOf('both.test')).toHaveLength(2);
    answerHeld();
    for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'ENOTFOUND' } });
  });

  it('that are never answered are given up', async () => {
    const by = newNames(HASTY);
    const ends = await Promise.allSettled(Array.from({ length: 20 }, (_, nth) => by.addressesOf(`v${nth}.slow.test`)));
    for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'ETIMEDOUT' } });
  });

  it('lead to servers by HTTP, Postgres and Redis, also while the name server is silent', async () => {
    const web: Server = createServer((_, response) => response.end('here')).listen(0, '127.0.0.1');
    await once(web, 'listening');
    const { port } = web.address() as AddressInfo;
    const by = newNames(HASTY);
    await knows(by, 'known.test');
    const agent = new Agent({ lookup: by.lookup });
    const test = await createTestDatabase();
    const address = new URL(test.url);
    address.hostname = 'known.test';
    const redisServer = await startRedisServer();
    const reached = async (): Promise<void> => {
      const [answer] = (await once(get({ agent, host: 'known.test', port }), 'response')) as [IncomingMessage];
      expect(answer.resume().statusCode).toBe(200);
      const client = new BoundedClient({ connectionString: String(address), stream: () => new ServerSocket(by) });
      await client.connect();
      expect((await client.query<{ one: number }>('select 1 as one')).rows).toEqual([{ one: 1 }]);
      await client.end();
      if (!redisServer) return;
      const redis = connect(
        parseRedisAddress(redisServer.url.replace(/127\.0\.0\.1|localhost/, 'known.test')),
        FAIL_FAST,
        by,
      );
      // It has answered by then. A slow machine may need a second try.
      await eventually(() => redis.status === 'ready');
      redis.disconnect();
    };
    await reached();
    server.isSilent = true;
    await reached();
    agent.destroy();
    web.close();
    await Promise.all([test.remove(), redisServer?.kill()]);
  });
});

it.each([
  ['', { domains: [], dots: 1 }],
  ['search a.test b.test. # two\nsearch c.test\noptions timeout:1 ndots:5', { domains: ['c.test'], dots: 5 }],
  ['; none\ndomain a.test\noptions rotate', { domains: ['a.test'], dots: 1 }],
])('The rules for short names match those of the system: %j', (text, rules) => {
  expect(parseSearchRules(text)).toEqual(rules);
});
