import type { JsonObject } from '#contracts';
import { connectFake } from '../testing/connected-fake.js';
import { FakeXaiImage, xaiRefusal } from '../testing/fake-xai-image.js';
import { mediaUpstreamContract } from '../testing/media-upstream-contract.js';
import { xaiImageCodec } from './xai-image.codec.js';

const ORDER = { model: 'iota-1.0-reseller', prompt: 'A lighthouse at dusk.', n: 2 };
const WITHHELD = { url: '', respect_moderation: false };

mediaUpstreamContract({
  codec: xaiImageCodec,
  fake: () => new FakeXaiImage(),
  judge: 'judges.spec.ts',
  order: ORDER,
  alwaysSent: { response_format: 'url' },
  elsewhere: {
    22: 'tested below: a withheld image counts as a missing one',
    28: 'tested below, with withheld images',
    29: 'tested below',
    30: 'refusals: only withheld images',
    31: 'it makes images',
    32: 'the label is in the one file of each image',
    33: 'tested below, for accounts with zero data retention; bounded memory in http/inline-files.spec.ts',
    40: 'tested below, with withheld images',
  },
  withFiles: {
    model: 'iota-1.0-edit-reseller',
    prompt: 'Make it night.',
    image_urls: ['https://media.example.com/lighthouse.png'],
  },
  lacks: [],
  refusals: [
    ['a rate', xaiRefusal(429, 'Too many requests'), { kind: 'busy', scope: 'account' }],
    [
      'a balance that is used up',
      xaiRefusal(429, 'Your team has used all its credits'),
      { kind: 'unfit', reason: 'not_paid' },
    ],
    ['a wrong key that comes as a 400', xaiRefusal(400, 'Incorrect API key provided'), { kind: 'unfit' }],
    ['a team without credits', xaiRefusal(403, 'Your team has no credits'), { kind: 'unfit', reason: 'not_paid' }],
    ['an unknown model', xaiRefusal(404, 'The model does not exist'), { kind: 'unfit', scope: 'model' }],
    [
      'a refused content',
      xaiRefusal(400, 'Rejected by content moderation'),
      { kind: 'refused', reason: 'content_refused' },
    ],
    [
      'an error object',
      { status: 400, body: { error: { message: 'Content violates the usage guidelines', type: 'x' } } },
      { kind: 'refused' },
    ],
    ['a field it does not take', xaiRefusal(422, 'n must be 1 to 10'), { kind: 'unsupported' }],
    ['only withheld images', { body: { data: [WITHHELD] } }, { kind: 'refused', reason: 'result_refused' }],
  ],
});

describe('xai-image', () => {
  describe('for an account with zero data retention', () => {
    const spooling = () => {
      const kept: string[] = [];
      const keep = async (ordinal: number, bytes: AsyncIterable<Buffer>) => {
        const chunks: Buffer[] = [];
        for await (const chunk of bytes) chunks.push(chunk);
        kept[ordinal] = Buffer.concat(chunks).toString();
        return `kept:${ordinal}`;
      };
      return { kept, spool: { keep } };
    };

    it('orders once more with the images inside the reply, and from then on so at once', async () => {
      const fake = await connectFake(xaiImageCodec, () => new FakeXaiImage());
      fake.vendor.protocol.keepsNothing = true;
      const { kept, spool } = spooling();
      const { order, call } = fake.prepare(ORDER);
      for (const sent of [2, 3]) {
        const started = await fake.upstream.start(order, { ...call, spool });
        expect(started).toMatchObject({ kind: 'finished', outputs: [{ url: 'kept:0' }, { url: 'kept:1' }] });
        expect(fake.vendor.requests).toHaveLength(sent);
      }
      expect([kept, fake.vendor.protocol.taken.length]).toEqual([['file', 'file'], 2]);
      await fake.close();
    });

    it('does so too where a reseller hands the refusal on', async () => {
      const fake = await connectFake(xaiImageCodec, () => new FakeXaiImage());
      fake.vendor.protocol.keepsNothing = true;
      const { spool } = spooling();
      const { order, call } = fake.prepare(ORDER);
      const refusal = { code: 'x', error: 'Not for teams with zero data retention.' };
      fake.vendor.next({ status: 400, body: { code: 400, message: 'upstream error', data: refusal } });
      expect(await fake.upstream.start(order, { ...call, spool })).toMatchObject({ outputs: [{ url: 'kept:0' }, {}] });
      expect(fake.vendor.requests).toHaveLength(2);
      await fake.close();
    });

    it('orders so at once where the entry says so, and takes an empty text for a withheld image', async () => {
      const fake = await connectFake(xaiImageCodec, () => new FakeXaiImage());
      const codec = xaiImageCodec.configured?.({ settings: { response_format: 'b64_json' } }, fake.vendor.protocol.key);
      fake.vendor.protocol.keepsNothing = true;
      fake.vendor.protocol.data = [{ b64_json: '' }, { b64_json: 'ZmlsZQ==' }];
      const { kept, spool } = spooling();
      const { order, call } = fake.prepare(ORDER);
      const started = await fake.other({ codec: codec ?? xaiImageCodec }).start(order, { ...call, spool });
      expect(started).toMatchObject({ outputs: [{ url: 'kept:0' }], missing: [{ ordinal: 0 }] });
      expect([kept, fake.vendor.requests.length]).toEqual([['file'], 1]);
      await fake.close();
    });

    it('41: is named by the free call, unless the entry knows it', async () => {
      const fake = await connectFake(xaiImageCodec, () => new FakeXaiImage());
      const { call } = fake.prepare(ORDER);
      expect(await fake.upstream.verify(call)).toEqual({ ok: true });
      fake.vendor.protocol.keepsNothing = true;
      const { key } = fake.vendor.protocol;
      const codec = xaiImageCodec.configured?.({ settings: { response_format: 'b64_json' } }, key) ?? xaiImageCodec;
      expect(await fake.upstream.verify(call)).toEqual({ ok: true, note: expect.stringContaining('b64_json') });
      expect(await fake.other({ codec }).verify(call)).toEqual({ ok: true });
      await fake.close();
    });

    it('orders nothing twice for any other refusal', async () => {
      const fake = await connectFake(xaiImageCodec, () => new FakeXaiImage());
      fake.vendor.protocol.keepsNothing = true;
      for (const reply of [
        xaiRefusal(400, 'Content rejected by moderation.'),
        xaiRefusal(503, 'zero data retention'),
      ]) {
        const before = fake.vendor.requests.length;
        fake.vendor.next(reply);
        const { order, call } = fake.prepare(ORDER);
        await fake.upstream.start(order, call).catch(() => undefined);
        expect(fake.vendor.requests.length).toBe(before + 1);
      }
      await fake.close();
    });
  });

  it('notes what a withheld image costs though the order is refused', async () => {
    const fake = await connectFake(xaiImageCodec, () => new FakeXaiImage());
    const { order, call } = fake.prepare(ORDER);
    const refusal = xaiRefusal(400, 'Generated image rejected by content moderation.').body as JsonObject;
    fake.vendor.next({ status: 400, body: { ...refusal, usage: { cost_in_usd_ticks: 200_000_000 } } });
    await expect(fake.upstream.start(order, call)).rejects.toMatchObject({
      kind: 'refused',
      reason: 'content_refused',
    });
    expect(call.noted()).toMatchObject({ cost: { micros: 200_000_000_000_000n, unit: 'usd_ticks' } });
    await fake.close();
  });

  it('29: says which images were withheld, and notes what they cost', async () => {
    const fake = await connectFake(xaiImageCodec, () => new FakeXaiImage());
    fake.vendor.protocol.data = [WITHHELD, { url: 'https://imgen.example.com/1.jpeg' }];
    const { started, call } = await fake.start(ORDER);
    expect(started).toMatchObject({
      outputs: [{ contentType: 'image/jpeg' }],
      missing: [{ ordinal: 0, code: 'content_policy' }],
    });
    expect(call.noted()).toMatchObject({ cost: { unit: 'usd_ticks' } });
    await fake.close();
  });

  it.each([Number.MAX_SAFE_INTEGER, -1])('takes images whose stated cost cannot be kept: %d', async (ticks) => {
    const fake = await connectFake(xaiImageCodec, () => new FakeXaiImage());
    fake.vendor.protocol.ticks = ticks;
    const { started, call } = await fake.start(ORDER);
    expect([started.kind, call.noted().cost]).toEqual(['finished', undefined]);
    await fake.close();
  });

  it('blames the order, and not the vendor, for a file that cannot be read any more', async () => {
    const fake = await connectFake(xaiImageCodec, () => new FakeXaiImage());
    const { order, call } = fake.prepare({
      model: 'iota-1.0-edit-reseller',
      prompt: 'Make it night.',
      image_urls: ['https://media.example.com/lighthouse.png'],
    });
    const gone = () => Promise.reject(new Error('answered 404'));
    const files = { get: () => ({ reference: order.references[0] as never, url: gone, bytes: gone }) };
    await expect(fake.upstream.start(order, { ...call, files })).rejects.toMatchObject({
      kind: 'refused',
      reason: 'reference_unusable',
    });
    await fake.close();
  });
});
