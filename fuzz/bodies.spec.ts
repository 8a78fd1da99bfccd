import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { VendorInProcess } from '../bench/vendor-in-process.js';
import { type HostileGateway, startHostileGateway } from './hostile-gateway.js';
import { EventLoopStops } from './event-loop-stops.js';
import { fuzzBodies } from './fuzz-bodies.js';
import { DOOR_TARGETS, OPERATOR_TARGETS } from './operator-targets.js';
import { readsOf } from './reads.js';
import { largeBodies } from './hostile-bodies.js';
import { refusedGoodBodies, sendOneWrongValue, UNREADABLE_VALUES } from './one-wrong-value.js';
import { Random } from './random.js';
import { headersOf, isAllowed } from './target-request.js';
import { TARGETS } from './targets.js';
import { yardstickMs } from './yardstick.js';

const BODIES = 1_000;
const MIB = 1024 * 1024;

describe('Hostile bodies', () => {
  let hostile: HostileGateway;
  beforeAll(async () => {
    // What tasks are made into is drawn in threads, which there are none of where TypeScript runs as it is.
    hostile = await startHostileGateway({}, { vendor: new VendorInProcess(0, () => 0) });
  });
  afterAll(() => hostile.gateway.stop());

  it('are tried on every route that takes one', () => {
    const pattern = (route: string): RegExp => new RegExp(`^${route.replace(/:[a-z_]+/g, '[^/]+')}$`);
    const taking = hostile.gateway
      .routes()
      .filter(
        ([method, path]) =>
          ['POST', 'PUT', 'PATCH'].includes(method) && /^\/(v1|v1beta|admin|console\/api)\//.test(path),
      )
      // Take files; hostile ones are in `hostile-files.spec.ts`.
      .filter(([, path]) => path !== '/v1/files' && path !== '/console/api/uploads');
    const targets = [...TARGETS, ...OPERATOR_TARGETS, ...DOOR_TARGETS];
    const missing = taking.filter(([method, route]) =>
      targets.every((target) => target.method !== method || !pattern(route).test(target.path.replace(/\?.*/, ''))),
    );
    expect(missing).toEqual([]);
  });

  it('are made of bodies that are taken, or else come no further than a first check', async () => {
    const { gateway, keys, people } = hostile;
    expect(await refusedGoodBodies(gateway.baseUrl, { keys: keys.slice(0, 1), people })).toEqual([
      // Nothing is made in the background; a passkey answers what nobody can foresee.
      '400 POST /v1/responses/{response}/cancel',
      '400 POST /console/api/passkeys',
    ]);
  });

  it('get only 2xx, 4xx and 503, and delay no other request', async () => {
    const { gateway, keys, people } = hostile;
    const order = { baseUrl: gateway.baseUrl, keys, people, reads: readsOf(gateway), count: BODIES, seed: 1 };
    await expectNoLongStop(async () => {
      const report = await fuzzBodies(order);
      expect(report).toMatchObject({ wrong: [], sent: BODIES });
      return report.longestStop.busyMs;
    });
  });

  it.each(['cursor', 'after'])('do not break a list that is to go on from a place that none gave: %s', async (name) => {
    const { gateway, keys, people } = hostile;
    const times = ['2026-11-28T23:59:59.999999Z', '2026-02-30T24:60:60.000000Z', '0000-01-01T00:00:00.000000Z'];
    const places = times.flatMap((time) => ['1', 'a-b', '-'].map((id) => `${time}|${id}`));
    const random = new Random(1);
    const wrong: string[] = [];
    for (const path of readsOf(gateway)) {
      const person = path.startsWith('/console/api/admin/') ? 'admin' : path.startsWith('/console/') ? 'owner' : 'key';
      const headers = headersOf(path.startsWith('/admin/') ? 'operator' : person, { keys, people }, random);
      for (const place of [...places, 'x']) {
        const query = `${name}=${Buffer.from(place).toString('base64url')}`;
        const { status } = await fetch(`${gateway.baseUrl}${path}?${query}`, { headers });
        if (!isAllowed(status)) wrong.push(`${status} of ${path}: ${place}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  const inline = (data: string): string =>
    JSON.stringify({
      model: 'vendor-haiku-4-5-20251001',
      max_tokens: 5,
      messages: [
        {
          role: 'user',
          content: [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }],
        },
      ],
    });

  it.each(largeBodies(16 * MIB, inline))('of 16 MiB delay no other request either: %s', async (_name, body) => {
    const bytes = body();
    for (const path of ['/v1/messages', '/v1/images/generations'])
      await expectNoLongStop(async () => {
        const stops = new EventLoopStops();
        const status = await send(path, bytes);
        const { busyMs } = stops.take();
        stops.close();
        expect([200, 400, 404, 413]).toContain(status);
        return busyMs;
      });
  });

  it('get no other answers where one field of a good body is null or unreadable', async () => {
    const { gateway, keys, people } = hostile;
    const senders = { keys: keys.slice(0, 1), people };
    const { wrong, statuses } = await sendOneWrongValue(gateway.baseUrl, senders, [null, ...UNREADABLE_VALUES]);
    expect(wrong).toEqual([]);
    expect(statuses[200]).toBeGreaterThan(0);
  }, 180_000);

  /**
   * Does the work three times at most, and compares its quickest with what the machine takes just then. The first time loads what is
   * loaded on first use. What a body does, it does every time; the rest is the machine.
   */
  async function expectNoLongStop(work: () => Promise<number>): Promise<void> {
    let [busyMs, mayTakeMs] = [Number.POSITIVE_INFINITY, 0];
    for (let time = 0; time < 3 && busyMs >= mayTakeMs; time += 1) {
      busyMs = Math.min(busyMs, await work());
      mayTakeMs = yardstickMs();
    }
    expect(busyMs).toBeLessThan(mayTakeMs);
  }

  async function send(path: string, body: Buffer): Promise<number | undefined> {
    const sent = httpRequest(hostile.gateway.baseUrl + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${hostile.keys[0]}`,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        'content-length': body.length,
      },
    });
    for (let from = 0; from < body.length; from += MIB) {
      if (!sent.write(body.subarray(from, from + MIB))) await once(sent, 'drain');
    }
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    await text(answer);
    return answer.statusCode;
  }
});
