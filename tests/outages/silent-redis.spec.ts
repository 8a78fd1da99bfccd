import { describeWithRedis, FaultProxy } from '#testing';
import { FAULTS, Outage, REQUEST_LIMIT_MS } from './testing/outage.js';

describeWithRedis('Redis falls silent', (redisUrl) => {
  let outage: Outage;
  beforeEach(async () => {
    outage = await Outage.prepare(
      () => FaultProxy.start(redisUrl),
      (proxy) => ({ redisUrl: proxy.urlOf(redisUrl) }),
    );
  });
  afterEach(() => outage.close());

  it.each(FAULTS)(
    '%s: requests are served, the process reports degraded, and wake-ups are sent again',
    async (fault) => {
      const answered = await outage.during(fault, async () => {
        if (fault === 'black-hole') await outage.untilDegraded('queue: the queue takes no work');
      });
      expect(
        answered.filter(({ status, tookMs }) => ![200, 401].includes(status) || tookMs > REQUEST_LIMIT_MS),
      ).toEqual([]);
      await outage.untilImagesAreMade();
      await outage.untilIt('ready');
      expect(await outage.losses(answered)).toEqual([]);
    },
  );
});
