import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#contracts';
import { startTestGateway, type TestGateway } from '../harness/test-gateway.js';

const IMAGES = '/v1/images/generations';
const VIDEOS = '/v1/videos/generations';

/** The body of an answer that refuses. */
interface Refusal {
  readonly error: { readonly code: string; readonly param: string | null; readonly details?: readonly Wrong[] };
}

interface Wrong {
  readonly param: string;
}

/** What a refusal comes to. */
interface Refused {
  readonly status: number;
  readonly code: string;
  readonly param: string | null;
  readonly changed: boolean;
  readonly calls: number;
}

describe('Addresses of private networks, in a gateway with nothing configured', () => {
  let gateway: TestGateway;
  let inside: Server;
  let port: number;
  let calls = 0;
  beforeAll(async () => {
    inside = createServer((_, response) => {
      calls += 1;
      response.end();
    }).listen(0, '127.0.0.1');
    await once(inside, 'listening');
    ({ port } = inside.address() as AddressInfo);
    gateway = await startTestGateway({ workers: false });
  });
  afterAll(async () => {
    await gateway.stop();
    inside.close();
  });

  const written = async (): Promise<unknown> => {
    const { rows } = await gateway.database.query({
      text: 'select (select count(*)::integer from task) as tasks, (select count(*)::integer from ledger_entry) as entries',
    });
    return rows[0];
  };

  /** How a body is refused: its status, code and field, what was written before and after it, and what was called. */
  async function refusal(path: string, body: JsonObject): Promise<Refused> {
    const before = await written();
    const { status, body: answer } = await gateway.send<Refusal>('POST', path, body);
    const { code, param } = answer.error;
    const changed = JSON.stringify(await written()) !== JSON.stringify(before);
    return { status, code, param, changed, calls };
  }
  const naming = (param: string): Refused => ({
    status: 400,
    code: 'invalid_parameter',
    param,
    changed: false,
    calls: 0,
  });

  it.each([
    'http://169.254.169.254/a',
    'http://127.0.0.1/a',
    'http://127.1/a',
    'http://2130706433/a',
    'http://0x7f.0.0.1/a',
    'http://0177.0.0.1/a',
    'http://127.0.0.1./a',
    'http://①②⑦.⓪.⓪.①/a',
    'http://0.0.0.0/a',
    'http://10.0.0.1/a',
    'http://100.64.0.1/a',
    'http://[::1]/a',
    'http://[::ffff:169.254.169.254]/a',
    'http://[fd00:ec2::254]/a',
    'http://[fe80::1]/a',
    'http://[64:ff9b::7f00:1]/a',
    'http://localhost/a',
    'http://gateway.localhost./a',
    'http://metadata.google.internal/a',
    'http://redis/a',
    'http://user:secret@cdn.example.com/a',
    'https://cdn.example.com:6379/a',
  ])('%s is refused as the file of an order, before money is held', async (url) => {
    expect(await refusal(IMAGES, { model: 'kappa-a-4-0', prompt: 'x', image_urls: [url] })).toEqual(
      naming('image_urls[0]'),
    );
  });

  it.each<[string, string, (url: string) => JsonObject]>([
    ['image_urls[0]', VIDEOS, (url) => ({ model: 'zeta-q3', image_urls: [url] })],
    [
      'image_urls[1]',
      VIDEOS,
      (url) => ({ model: 'delta-v2-6', mode: 'pro', image_urls: ['https://a.example/1', url] }),
    ],
    [
      'image_with_roles[0].url',
      VIDEOS,
      (url) => ({ model: 'alpha-2.0', image_with_roles: [{ url, role: 'first_frame' }] }),
    ],
    ['video_urls[0]', VIDEOS, (url) => ({ model: 'alpha-2.0', video_urls: [url] })],
    [
      'audio_urls[0]',
      VIDEOS,
      (url) => ({ model: 'alpha-2.0', image_urls: ['https://a.example/1'], audio_urls: [url] }),
    ],
    ['audio_url', VIDEOS, (url) => ({ model: 'beta-2.7', audio_url: url })],
    [
      'image_with_roles[0].reference_voice',
      VIDEOS,
      (url) => ({ model: 'beta-2.7-r2v', image_with_roles: [{ url: 'https://a.example/1', reference_voice: url }] }),
    ],
    ['first_frame_image', VIDEOS, (url) => ({ model: 'epsilon-2.3', first_frame_image: url })],
    ['first_frame_image', VIDEOS, (url) => ({ model: 'gamma-3.1-fast-official', first_frame_image: url })],
    ['webhook_url', IMAGES, (url) => ({ model: 'eta-image-2.0', webhook_url: url })],
    ['image_urls[0]', '/v1/quote', (url) => ({ model: 'eta-image-2.0', image_urls: [url] })],
  ])('%s of %s may not lead there', async (param, path, body) => {
    const urls = [
      `http://127.0.0.1:${port}/a`,
      'http://169.254.169.254/a',
      'http://localhost/a',
      'http://u:p@a.example/a',
    ];
    for (const url of urls) expect(await refusal(path, { prompt: 'x', ...body(url) })).toEqual(naming(param));
  });

  it('are refused in edits too, where only https is taken, and in images that are left unread', async () => {
    const edit = { model: 'iota-1.0-edit-reseller', prompt: 'x' };
    const urls = ['https://a.example/1.png', 'https://[::1]/a'];
    expect(await refusal('/v1/images/edits', { ...edit, image_urls: urls.toReversed() })).toEqual(
      naming('image_urls[0]'),
    );
    expect(await refusal('/v1/images/edits', { ...edit, image_urls: urls })).toEqual(naming('image_urls[1]'));
  });

  it('are refused in texts and in the tools of texts', async () => {
    const image = (url: string) => [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }];
    const mcp = (url: string) => [{ type: 'remote_mcp', remote_mcp: { url } }];
    for (const url of [
      `http://127.0.0.1:${port}/a`,
      'http://[::1]/a',
      'http://localhost/a',
      'http://u:p@a.example/a',
    ]) {
      expect(await refusal('/v1/responses', { model: 'vendor-5', input: image(url) })).toEqual(
        naming('input[0].content[0].image_url'),
      );
      expect(await refusal('/v1/responses', { model: 'vendor-5', input: 'x', tools: mcp(url) })).toEqual(
        naming('tools[0].remote_mcp.url'),
      );
    }
  });

  it('are each named when there are several', async () => {
    const image_urls = ['http://10.0.0.1/a', 'https://cdn.example.com/a.png', 'http://redis/a'];
    const { body } = await gateway.send<Refusal>('POST', IMAGES, { model: 'kappa-a-4-0', prompt: 'x', image_urls });
    expect(body.error.details?.map(({ param }) => param)).toEqual(['image_urls[0]', 'image_urls[2]']);
  });

  it('do not keep public addresses from being ordered with', async () => {
    const image_urls = ['https://cdn.example.com/a.png', 'http://93.184.215.14/a.png'];
    expect(await gateway.submit(IMAGES, { model: 'kappa-a-4-0', prompt: 'x', image_urls })).toMatch(/^task_/);
  });
});
