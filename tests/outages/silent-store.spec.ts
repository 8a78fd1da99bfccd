import { FaultProxy, type S3Server, startS3Server } from '#testing';
import { FAULTS, Outage, REQUEST_LIMIT_MS } from './testing/outage.js';

describe('The media store falls silent', () => {
  let s3: S3Server;
  let outage: Outage;
  beforeAll(async () => {
    s3 = await startS3Server();
  });
  afterAll(() => s3.close());
  beforeEach(async () => {
    outage = await Outage.prepare(
      () => FaultProxy.start(s3.endpoint),
      (proxy) => ({
        environment: {
          MEDIA_S3_ENDPOINT: proxy.urlOf(s3.endpoint).replace(/\/$/, ''),
          MEDIA_S3_BUCKET: s3.bucket,
          MEDIA_S3_ACCESS_KEY_ID: s3.accessKeyId,
          MEDIA_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
        },
      }),
    );
  });
  afterEach(() => outage.close());

  it.each(FAULTS)('%s: requests are served, and results are stored once it is back', async (fault) => {
    await outage.makesImages();
    const answered = await outage.during(fault, async () => {
      if (fault === 'black-hole') await outage.untilDegraded('store: files cannot be written');
      const link = new URL(await outage.gateway.platform.store.url('media/none/0.png', { ttlSeconds: null }));
      const file = await outage.ask('GET', link.pathname + link.search);
      expect(file.tookMs).toBeLessThan(REQUEST_LIMIT_MS);
      expect(file).toMatchObject(fault === 'black-hole' ? { status: 503, retryAfter: '2' } : {});
    });
    expect(answered.filter(({ status }) => ![200, 401].includes(status))).toEqual([]);
    await outage.untilImagesAreMade();
    expect(await outage.losses(answered)).toEqual([]);
  });
});
