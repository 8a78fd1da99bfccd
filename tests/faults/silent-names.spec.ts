import dns from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually, startNameServer, type TestNameServer } from '#testing';
import { startTestGateway, type TestGateway } from '../harness/test-gateway.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };
const SILENT_HOSTS = 100;

describe('Hosts whose name server never answers', () => {
  let gateway: TestGateway;
  let names: TestNameServer;
  let receiver: Server;
  let url: string;
  const received = { calls: 0 };
  beforeAll(async () => {
    names = await startNameServer((name) => (name === 'victim.test' ? { addresses: ['127.0.0.1'] } : 'silent'));
    receiver = createServer((_, response) => {
      received.calls += 1;
      response.writeHead(204).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    url = `http://victim.test:${port}/hook`;
    gateway = await startTestGateway({
      environment: { OUTBOUND_NAME_SERVERS: names.address, MEDIA_FETCH_ALLOW: `victim.test:${port}` },
    });
    await gateway.database.query({ text: `insert into account (id, name) values ('hostile', 'h'), ('victim', 'v')` });
  });
  afterAll(async () => {
    await gateway.stop();
    receiver.close();
    receiver.closeAllConnections();
    names.close();
  });

  async function add(account: string, urls: readonly string[]): Promise<void> {
    await gateway.database.query({
      text: `insert into webhook_delivery (id, account_id, event_type, url, payload, next_attempt_at)
        select 'msg_' || gen_random_uuid(), $1, 'task.completed', url, '{}', now() from unnest($2::text[]) as url`,
      values: [account, urls],
    });
  }

  /** Silent hosts of webhooks that were looked up so far; the others wait for their turn, until those before are given up. */
  const hostsAsked = (): number => new Set(names.asked.filter((name) => /^h\d+\.slow\.test$/.test(name))).size;

  it('delay neither the webhooks and references of other accounts, nor the lookups of the system', async () => {
    const hosts = Array.from({ length: SILENT_HOSTS }, (_, index) => `http://h${index}.slow.test/hook`);
    await add('hostile', hosts);
    // The workers of images meet such a host too.
    await gateway.submit('/v1/images/generations', { ...IMAGE, image_urls: ['http://ref.slow.test/a.png'] });
    await eventually(() => hostsAsked() > 0);
    await add('victim', [url]);
    await eventually(() => received.calls === 1);
    // The system's look-ups share a few threads of the process, and none of these may be held.
    await dns.lookup('localhost');
    expect(hostsAsked()).toBeLessThan(SILENT_HOSTS);
    const taskId = await gateway.submit('/v1/images/generations', IMAGE);
    expect(await gateway.waitForTask(taskId)).toMatchObject({ status: 'completed' });
  });
});
