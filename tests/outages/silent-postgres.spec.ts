import { FaultProxy } from '#testing';
import { createGatewayPlace, type GatewayPlace } from '../harness/test-gateway.js';
import { FAULTS, Outage, REQUEST_LIMIT_MS } from './testing/outage.js';

describe('Postgres falls silent', () => {
  let place: GatewayPlace;
  let outage: Outage;
  beforeEach(async () => {
    place = await createGatewayPlace();
    outage = await Outage.prepare(
      () => FaultProxy.start(place.databaseUrl),
      (proxy) => ({ place, databaseBehind: async (url) => proxy.urlOf(url) }),
    );
  });
  afterEach(async () => {
    await outage.close();
    await place.remove();
  });

  it.each([...FAULTS, 'slow', 'drip'] as const)(
    '%s: no request hangs, and service recovers within seconds',
    async (fault) => {
      // A slow server is no silent one: each of a request's statements may take its whole time.
      const limitMs = fault === 'slow' || fault === 'drip' ? 3 * REQUEST_LIMIT_MS : REQUEST_LIMIT_MS;
      const answered = await outage.during(fault, async () => {
        if (fault === 'black-hole') await outage.untilIt('not_ready');
      });
      expect(answered.filter(({ status, tookMs }) => ![200, 401, 503].includes(status) || tookMs > limitMs)).toEqual(
        [],
      );
      expect(answered.filter(({ status, retryAfter }) => status === 503 && !(Number(retryAfter) > 0))).toEqual([]);
      await outage.untilImagesAreMade();
      // An image may be made before the checks of the process, which take turns, have seen that all is well.
      await outage.untilIt('ready');
      expect(await outage.losses(answered)).toEqual([]);
    },
  );
});
