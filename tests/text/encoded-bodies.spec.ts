import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import zlib from 'node:zlib';
import type { JsonObject } from '#contracts';
import { eventually, memoryRise } from '#testing';
import { BodyDecoder, codingOf } from '../../apps/api/src/http/decode-body.js';
import { MODEL_OVER, startTextGateway, type TextGateway, type Upstream } from '../harness/text-vendor/text-gateway.js';

const MIB = 1024 * 1024;
const LIMIT_MB = 16;

type Encode = (bytes: Buffer) => Buffer;

const brotli: Encode = (bytes) =>
  zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } });

/** What Node 22.15 and newer have besides. */
const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Buffer, options?: object) => Buffer };

const CODINGS: readonly (readonly [string, Encode])[] = [
  ['gzip', zlib.gzipSync],
  ['x-gzip', zlib.gzipSync],
  ['GZIP', zlib.gzipSync],
  ['deflate', zlib.deflateSync],
  // Of senders that leave out the frame.
  ['deflate', zlib.deflateRawSync],
  ['br', brotli],
  ['identity, gzip', zlib.gzipSync],
  ...(zstdCompressSync ? [['zstd', zstdCompressSync] as const] : []),
];

const ACCEPTED = zstdCompressSync ? 'gzip, deflate, br, zstd' : 'gzip, deflate, br';

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonObject;
}

const LONG = Array.from({ length: 60_000 }, (_, at) => `word ${at} of a long story, told once.`).join(' ');

/** A request in each style that goes to an upstream of the same, with a prompt. */
const STYLES: Readonly<Record<Exclude<Upstream, 'sandbox'>, (prompt: string) => readonly [string, JsonObject]>> = {
  chat: (content) => ['/v1/chat/completions', { model: MODEL_OVER.chat, messages: [{ role: 'user', content }] }],
  responses: (input) => ['/v1/responses', { model: MODEL_OVER.responses, input, store: false }],
  messages: (content) => [
    '/v1/messages',
    { model: MODEL_OVER.messages, max_tokens: 9, messages: [{ role: 'user', content }] },
  ],
  gemini: (prompt) => [
    `/v1beta/models/${MODEL_OVER.gemini}:generateContent`,
    { contents: [{ role: 'user', parts: [{ text: prompt }] }] },
  ],
};

describe('A body with Content-Encoding', () => {
  let gateway: TextGateway;
  let slow: Promise<Answer>;
  beforeAll(async () => {
    gateway = await startTextGateway({ BODY_LIMIT_MB: String(LIMIT_MB) });
    const begun = begin('/v1/chat/completions', 'gzip', { 'content-length': '1000' });
    begun.write(zlib.gzipSync('{}').subarray(0, 10));
    slow = answerTo(begun);
  });
  afterAll(() => gateway.stop());

  function begin(path: string, encoding: string, headers: Record<string, string> = {}): ClientRequest {
    const sent = httpRequest(gateway.baseUrl + path, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'anthropic-version': '2023-06-01',
        'content-type': 'application/json',
        'content-encoding': encoding,
        ...headers,
      },
    });
    return sent.on('error', () => undefined);
  }

  async function answerTo(sent: ClientRequest): Promise<Answer> {
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const { statusCode: status, headers } = answer;
    return { status, headers, body: JSON.parse(await text(answer)) as JsonObject };
  }

  /** Sends the bytes as they are. */
  function send(path: string, encoding: string, bytes: Buffer, headers: Record<string, string> = {}): Promise<Answer> {
    const sent = begin(path, encoding, { 'content-length': String(bytes.length), ...headers });
    sent.end(bytes);
    return answerTo(sent);
  }

  const CHAT = STYLES.chat('Hello there');
  const chatBytes = Buffer.from(JSON.stringify(CHAT[1]));

  /** What the vendor got of a request that was sent encoded, and of the same sent plain. */
  async function heardOf(encoding: string, encode: Encode, [path, body]: readonly [string, JsonObject]) {
    const plain = Buffer.from(JSON.stringify(body));
    const asked = gateway.vendor.seen.length;
    const statuses = [await send(path, encoding, encode(plain)), await send(path, 'identity', plain)];
    const [encoded, sentPlain] = gateway.vendor.seen.slice(asked);
    return {
      statuses: statuses.map(({ status }) => status),
      isAlike: encoded?.text === sentPlain?.text,
      isWhole: encoded?.text.includes(LONG.slice(-500)),
      encoding: encoded?.headers['content-encoding'],
    };
  }
  const ALIKE = { statuses: [200, 200], isAlike: true, isWhole: true, encoding: undefined };

  it.each(Object.entries(STYLES))('reaches a vendor of its style like a plain one: %s', async (_style, requestOf) => {
    expect(await heardOf('gzip', zlib.gzipSync, requestOf(LONG))).toEqual(ALIKE);
  });

  describe.each(CODINGS)('%s', (encoding, encode) => {
    it('reaches a vendor like a plain one of 3 MB', async () => {
      expect(await heardOf(encoding, encode, STYLES.chat(LONG))).toEqual(ALIKE);
    });

    it('is read by every kind of route: of media tasks, of counting, of vector stores', async () => {
      const bodies: readonly (readonly [string, JsonObject])[] = [
        ['/v1/images/generations', { model: 'eta-image-2.0', prompt: 'A house' }],
        ['/v1/quote', { model: 'eta-image-2.0', prompt: 'A house' }],
        ['/v1/chat/completions', { model: MODEL_OVER.sandbox, messages: [{ role: 'user', content: 'Hi' }] }],
        ['/v1/messages/count_tokens', { model: MODEL_OVER.messages, messages: [{ role: 'user', content: 'Hi' }] }],
        ['/v1/vector_stores', { name: 'encoded' }],
      ];
      for (const [path, body] of bodies)
        await expect(send(path, encoding, encode(Buffer.from(JSON.stringify(body))))).resolves.toMatchObject({
          status: 200,
        });
    });

    it('is refused wherever it is cut off, and when bytes follow it', async () => {
      const whole = encode(chatBytes);
      const cut = [1, 2, 5, Math.floor(whole.length / 2), whole.length - 1].map((end) => whole.subarray(0, end));
      const followed = ['\0', '\0\0\0\0', ' ', 'rubbish', '{}'].map((end) => Buffer.concat([whole, Buffer.from(end)]));
      for (const bytes of [
        ...cut,
        ...followed,
        chatBytes,
        Buffer.concat([whole.subarray(0, 20), Buffer.alloc(400, 0x55)]),
      ])
        await expect(send(CHAT[0], encoding, bytes)).resolves.toMatchObject({
          status: 400,
          body: { error: { message: expect.stringContaining('Content-Encoding'), type: 'invalid_request_error' } },
        });
    });

    it('is refused when what comes out is larger than a body may be, though it is a list of fields', async () => {
      const bomb = encode(Buffer.alloc((LIMIT_MB + 1) * MIB, ' '));
      await expect(send(CHAT[0], encoding, bomb)).resolves.toMatchObject({ status: 413 });
      const fields = encode(Buffer.from(JSON.stringify({ task_ids: ['x'.repeat(2 * MIB)] })));
      await expect(send('/v1/tasks/batch', encoding, fields)).resolves.toMatchObject({ status: 413 });
      await eventually(() => gateway.heldBytes() === 0);
    });
  });

  it('is refused as one of too much structure, like a plain one', async () => {
    const nested = zlib.gzipSync(Buffer.from(`[${'{},'.repeat(200_000)}{}]`));
    await expect(send(CHAT[0], 'gzip', nested)).resolves.toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_json' } },
    });
  });

  it('is refused for its own length too', async () => {
    // Empty members of gzip decode to nothing.
    const empty = Buffer.concat(Array.from({ length: 1_000 }, () => zlib.gzipSync('')));
    const bytes = Buffer.concat(Array.from({ length: Math.ceil(((LIMIT_MB + 1) * MIB) / empty.length) }, () => empty));
    await expect(send(CHAT[0], 'gzip', bytes)).resolves.toMatchObject({ status: 413 });
  });

  it.each(['gzip, gzip', 'br, gzip', 'compress', 'aws-chunked', 'gzip;q=1', '"gzip"', 'constructor', ', br , gzip'])(
    'is refused with what is accepted: %s',
    async (encoding) => {
      const answer = await send(CHAT[0], encoding, zlib.gzipSync(zlib.gzipSync(chatBytes)));
      expect([answer.status, answer.headers['accept-encoding']]).toEqual([415, ACCEPTED]);
      expect(JSON.stringify(answer.body)).toContain('Content-Encoding');
    },
  );

  it('is refused when it is zstd and Node has none, naming the version', async () => {
    if (zstdCompressSync) return;
    const answer = await send(CHAT[0], 'zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd]));
    expect([answer.status, answer.headers['accept-encoding']]).toEqual([415, 'gzip, deflate, br']);
    expect(JSON.stringify(answer.body)).toContain(`22.15 or newer, and this gateway runs on ${process.version}`);
  });

  it('is refused when zstd needs a window of more than 8 MiB', async () => {
    if (!zstdCompressSync) return;
    const params = { [(zlib.constants as unknown as Record<string, number>)['ZSTD_c_windowLog'] ?? 0]: 27 };
    const wide = zstdCompressSync(Buffer.alloc(256 * MIB, ' '), { params });
    await expect(send(CHAT[0], 'zstd', wide)).resolves.toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('8 MiB') } },
    });
  });

  it('is the same request as its plain form to an Idempotency-Key, and after a repeat', async () => {
    const key = `encoded-${Date.now()}`;
    const asked = gateway.vendor.seen.length;
    const headers = { 'idempotency-key': key };
    const first = await send(CHAT[0], 'br', zlib.brotliCompressSync(chatBytes), headers);
    const again = await send(CHAT[0], 'gzip', zlib.gzipSync(chatBytes), headers);
    const plain = await send(CHAT[0], 'identity', chatBytes, headers);
    expect([first.status, again.body, plain.body]).toEqual([200, first.body, first.body]);
    expect(gateway.vendor.seen.length - asked).toBe(1);
    const other = await send(CHAT[0], 'gzip', zlib.gzipSync(JSON.stringify({ ...CHAT[1], n: 1 })), headers);
    expect(other.status).toBe(422);
  });

  it('is refused where files are uploaded', async () => {
    const form = zlib.gzipSync('--x--');
    const answer = await send('/v1/files', 'gzip', form, { 'content-type': 'multipart/form-data; boundary=x' });
    expect(answer.status).toBe(415);
  });

  it('may be empty, as any body', async () => {
    await expect(send(CHAT[0], 'gzip', Buffer.alloc(0))).resolves.toMatchObject({
      status: 400,
      body: { error: { param: 'model' } },
    });
  });

  it('of a bomb takes little memory, and does not delay others', async () => {
    const bomb = await brotliBomb();
    expect(bomb.length).toBeLessThan(64 * 1024);
    let answered = 0;
    const { result: statuses, bytes } = await memoryRise(100 * MIB, async () => {
      const sending = { isOver: false };
      const bombs = Promise.all(Array.from({ length: 6 }, () => send(CHAT[0], 'br', bomb))).finally(() => {
        sending.isOver = true;
      });
      while (!sending.isOver) {
        await fetch(`${gateway.baseUrl}/healthz`).then((answer) => answer.text());
        answered += 1;
      }
      return (await bombs).map(({ status }) => status);
    });
    expect(statuses).toContain(413);
    // Where much else runs, one may wait too long for its turn.
    expect(statuses.filter((status) => status !== 413 && status !== 429)).toEqual([]);
    expect(bytes).toBeLessThan(100 * MIB);
    // On the loop itself, at most one other request would be answered between two of them.
    expect(answered).toBeGreaterThan(30);
  });

  it('of a bomb comes out in few pieces, however short it is: each is a way to another thread and back', async () => {
    const coding = codingOf('br');
    if (!coding) throw new Error('br is a coding');
    let [pieces, bytes] = [0, 0];
    await new BodyDecoder().decode('acct_1', coding, await brotliBomb(), (piece) => {
      pieces += 1;
      bytes += piece.length;
    });
    expect(bytes / pieces).toBeGreaterThan(8 * 1024);
  });

  it('of another account waits for none but those at work in a flood', async () => {
    const decoder = new BodyDecoder();
    const coding = codingOf('gzip');
    if (!coding) throw new Error('gzip is a coding');
    const order: string[] = [];
    const decode = async (account: string, bytes: Buffer): Promise<void> => {
      await decoder.decode(account, coding, bytes, () => undefined);
      order.push(account);
    };
    const [large, small] = [zlib.gzipSync(Buffer.alloc(MIB, 'a')), zlib.gzipSync('{}')];
    await Promise.all([...Array.from({ length: 30 }, () => decode('flood', large)), decode('other', small)]);
    expect(order.indexOf('other')).toBeLessThan(2);
    const tooMany = Array.from({ length: 300 }, () => decode('flood', small).catch((error: unknown) => error));
    expect(await Promise.all(tooMany)).toContainEqual(expect.objectContaining({ code: 'rate_limit_exceeded' }));
  });

  it('is refused when it comes too slowly, and its connection ends', async () => {
    await expect(slow).resolves.toMatchObject({
      status: 408,
      headers: { connection: 'close' },
      body: { error: { message: expect.stringContaining('too slowly') } },
    });
  });
});

/** Some kilobytes that decode to 512 MB. */
async function brotliBomb(): Promise<Buffer> {
  const encoder = zlib.createBrotliCompress({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } });
  const pieces: Buffer[] = [];
  encoder.on('data', (piece: Buffer) => pieces.push(piece));
  const spaces = Buffer.alloc(16 * MIB, 'a');
  for (let made = 0; made < 8; made += 1) if (!encoder.write(spaces)) await once(encoder, 'drain');
  encoder.end();
  await once(encoder, 'end');
  return Buffer.concat(pieces);
}
