import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { describeWithRedis, eventually, startNameServer, startRedisServer, type TestNameServer } from '#testing';
import { ServerNames } from '../dns/server-names.js';
import { parseRedisAddress } from './redis-address.js';
import { connect, FAIL_FAST } from './redis-connection.js';

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Answers every command with the address of the master, as a Sentinel does; undefined: it knows no master. */
function sentinelTelling(master: () => { host: string; port: number } | undefined): Server {
  return createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (sent) => {
      for (const _command of sent.toString('latin1').match(/^\*\d+\r$/gm) ?? []) {
        const address = master();
        const parts = address && [address.host, String(address.port)];
        socket.write(parts ? `*2\r\n${parts.map((part) => `$${part.length}\r\n${part}\r\n`).join('')}` : '*-1\r\n');
      }
    });
  }).listen(0, '127.0.0.1');
}

describeWithRedis('A Redis behind Sentinels', () => {
  let nameServer: TestNameServer;
  let names: ServerNames;
  beforeAll(async () => {
    nameServer = await startNameServer((name) => {
      if (name === 'silent.test') return 'silent';
      return name.endsWith('.known.test') ? { addresses: ['127.0.0.1'] } : null;
    });
    names = new ServerNames({ servers: [nameServer.address], tryMs: 150, limitMs: 400 });
  });
  afterAll(() => nameServer.close());

  it('is found by names never resolved by the system, past Sentinels that cannot be found or know no master', async () => {
    const redis = await startRedisServer();
    const port = Number(new URL(redis?.url ?? '').port);
    let isKnown = false;
    const forgetful = sentinelTelling(() => undefined);
    const sentinel = sentinelTelling(() => (isKnown ? { host: 'master.known.test', port } : undefined));
    await Promise.all([forgetful, sentinel].map((server) => once(server, 'listening')));
    const hosts = [`silent.test`, `a.known.test:${portOf(forgetful)}`, `b.known.test:${portOf(sentinel)}`];
    const client = connect(parseRedisAddress(`redis-sentinel://${hosts.join(',')}/gateway`), FAIL_FAST, names);
    await eventually(() => nameServer.asked.some((name) => name.startsWith('b.known')));
    isKnown = true;
    await eventually(() => client.status === 'ready');
    expect(await client.ping()).toBe('PONG');
    client.disconnect();
    forgetful.close();
    sentinel.close();
    await redis?.kill();
  });

  it('is given up at once by a client closed before any Sentinel knew it', async () => {
    const sentinel = sentinelTelling(() => undefined);
    await once(sentinel, 'listening');
    const url = `redis-sentinel://a.known.test:${portOf(sentinel)}/gateway`;
    const client = connect(parseRedisAddress(url), FAIL_FAST, names);
    await eventually(() => nameServer.asked.some((name) => name.startsWith('a.known')));
    client.disconnect();
    await eventually(() => client.status === 'end');
    await expect(client.ping()).rejects.toThrow('Connection is closed');
    sentinel.close();
  });
});
