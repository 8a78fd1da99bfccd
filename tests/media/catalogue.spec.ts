import { CATALOG, type JsonObject, type ModelFamily, type TaskView } from '#contracts';
import { localRequest } from '../harness/local-request.js';
import { type MediaHost, startMediaHost } from '../harness/media-host.js';
import { startTestGateway, type TestGateway } from '../harness/test-gateway.js';

let gateway: TestGateway;
let host: MediaHost;

beforeAll(async () => {
  host = await startMediaHost();
  gateway = await startTestGateway({ environment: { MEDIA_FETCH_ALLOW: host.address } });
});
afterAll(async () => {
  await gateway.stop();
  await host.stop();
});

const outputsOf = (task: TaskView) => task.result?.videos ?? task.result?.images ?? [];

async function run(path: string, body: JsonObject): Promise<TaskView> {
  return gateway.waitForTask(await gateway.submit(path, body));
}

describe('Every model of the catalogue, made by the sandbox', () => {
  const models = CATALOG.flatMap((family: ModelFamily) => family.models.map((model) => [model, family] as const));

  it.each(models)('%s delivers exactly what its plan says', async (model, family) => {
    const sent = localRequest(host, family, model);
    const request = family.read(sent);
    const plan = family.output(request.parameters);
    const task = await run(family.path, sent);
    expect(task).toMatchObject({ status: 'completed', error: null, usage: { final: true } });
    const files = outputsOf(task);
    expect(files).toHaveLength(plan.count);
    for (const file of files) {
      expect(file.expires_at === null).toBe(family.resultTtlSeconds === null);
      const { kind } = plan.size;
      const [ratio, pixels] =
        kind === 'fixed'
          ? [plan.size.width / plan.size.height, plan.size.width * plan.size.height]
          : [800 / 600, plan.size.pixels];
      const { width, height, duration } = file;
      expect((width ?? 0) / (height ?? 1)).toBeCloseTo(ratio, kind === 'fixed' ? 9 : 1);
      expect(((width ?? 0) * (height ?? 0)) / pixels).toBeCloseTo(1, kind === 'fixed' ? 9 : 1);
      expect(duration).toBe(plan.medium === 'video' ? plan.durationSeconds : null);
    }
  });

  it('delivers the last frame as an image of the video size when asked', async () => {
    const task = await run('/v1/videos/generations', {
      model: 'alpha-2.0',
      prompt: 'x',
      return_last_frame: true,
      duration: 4,
    });
    const bytes = Buffer.from(await (await fetch(task.result?.last_frame_url ?? '')).arrayBuffer());
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([
      task.result?.videos?.[0]?.width,
      task.result?.videos?.[0]?.height,
    ]);
  });

  it('links results of iota and kappa for 24 hours and all others permanently', async () => {
    const task = await run('/v1/images/generations', { model: 'iota-1.0-reseller', prompt: 'x' });
    const expiresAt = task.result?.images?.[0]?.expires_at ?? 0;
    expect(expiresAt - (task.completed ?? 0)).toBeGreaterThanOrEqual(86_399);
    expect(expiresAt - (task.completed ?? 0)).toBeLessThanOrEqual(86_401);
  });
});

describe('Referenced files, checked before the vendor is called', () => {
  const R2V = { model: 'beta-2.7-r2v', prompt: 'x' };
  const ZETA = { model: 'zeta-q3', prompt: 'x' };
  const ALPHA = { model: 'alpha-2.0', prompt: 'x' };
  const cases: readonly (readonly [string, () => JsonObject, RegExp])[] = [
    [
      'an image below 128 pixels',
      () => ({ ...ZETA, image_urls: [host.url('/png/100x400')] }),
      /image_urls\[0\].*100x400.*128/,
    ],
    [
      'an image beyond 1:4',
      () => ({ ...ZETA, image_urls: [host.url('/png/128x600')] }),
      /image_urls\[0\].*128x600.*from 1:4 to 4:1/,
    ],
    ['a page that is no image', () => ({ ...ZETA, image_urls: [host.url('/html/0')] }), /image_urls\[0\]/],
    ['a file that is not there', () => ({ ...ZETA, image_urls: [host.url('/nothing')] }), /image_urls\[0\].*404/],
    [
      'a redirect to an address that is not public',
      () => ({ ...ZETA, image_urls: [host.url('/redirect')] }),
      /image_urls\[0\].*public/,
    ],
    ['a video of 31 seconds', () => ({ ...R2V, video_urls: [host.url('/mp4/640x480x31')] }), /video_urls\[0\].*30/],
    ['a video below 240 pixels', () => ({ ...R2V, video_urls: [host.url('/mp4/200x480x5')] }), /video_urls\[0\].*240/],
    [
      'two videos of 16 seconds together',
      () => ({ ...ALPHA, video_urls: [host.url('/mp4/854x480x8'), host.url('/mp4/854x480x8')] }),
      /video_urls.*15/,
    ],
  ];

  it.each(cases)(
    '%s ends the task with invalid_media, names file and rule, and costs nothing',
    async (_name, body, message) => {
      const task = await run('/v1/videos/generations', body());
      expect(task).toMatchObject({
        status: 'failed',
        error: { code: 'invalid_media' },
        usage: { amount: '0.000000', final: true },
      });
      expect(task.error?.message).toMatch(message);
    },
  );
});

describe('A refused submission leaves nothing behind', () => {
  const countRows = async (): Promise<unknown> => {
    const { rows } = await gateway.database.query({
      text: 'select (select count(*) from task) as tasks, (select count(*) from ledger_entry) as entries, (select sum(held_micros) from account) as held',
    });
    return rows[0];
  };
  const PNG_AS_JPEG =
    'data:image/jpeg;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

  it.each([
    [
      'a broken rule',
      400,
      '/v1/videos/generations',
      { model: 'epsilon-2.3', prompt: 'x', resolution: '1080p', duration: 10 },
      'duration',
    ],
    ['a quoted number', 400, '/v1/images/generations', { model: 'kappa-a-4-0', prompt: 'x', n: '2' }, 'n'],
    ['an unknown field', 400, '/v1/images/generations', { model: 'eta-image-2.0', prompt: 'x', foo: 1 }, 'foo'],
    [
      'a model of another path',
      400,
      '/v1/images/generations',
      { model: 'gamma-3.1-fast-official', prompt: 'x' },
      'model',
    ],
    ['an unknown model', 404, '/v1/images/generations', { model: 'eta-image-2', prompt: 'x' }, 'model'],
    ['a missing model', 400, '/v1/images/generations', { prompt: 'x' }, 'model'],
    ['a body that is no object', 400, '/v1/videos/generations', [1], null],
    ['a body that is no JSON', 400, '/v1/videos/generations', '{"model":', null],
    [
      'an inline image that is not what it says',
      400,
      '/v1/images/generations',
      { model: 'kappa-a-4-0', prompt: 'x', image_urls: [PNG_AS_JPEG] },
      'image_urls[0]',
    ],
  ])('%s', async (_name, status, path, body, param) => {
    const before = await countRows();
    const answer = await gateway.send<{ error: { param: string | null } }>('POST', path, body);
    expect([answer.status, answer.body.error.param]).toEqual([status, param]);
    expect(await countRows()).toEqual(before);
  });

  it('names the nearest models when the name is unknown', async () => {
    const { body } = await gateway.send('POST', '/v1/images/generations', { model: 'eta-image-2', prompt: 'x' });
    expect(body['message']).toContain('eta-image-2.0');
  });

  it('lists every wrong field, and describes the first in its message', async () => {
    const { body } = await gateway.send<{ message: string; error: { details: { param: string; message: string }[] } }>(
      'POST',
      '/v1/images/generations',
      { model: 'eta-image-2.0', prompt: 'x', n: 7, size: '5:4', resolution: '8K' },
    );
    expect(body.error.details.map(({ param }) => param)).toEqual(['size', 'resolution', 'n']);
    expect(body.message).toBe(body.error.details[0]?.message);
  });

  it('names the accepted content type', async () => {
    const answer = await fetch(`${gateway.baseUrl}/v1/videos/generations`, {
      method: 'POST',
      body: 'x',
      headers: { 'content-type': 'text/plain', authorization: 'Bearer sk-test-0123456789abcdef' },
    });
    expect(answer.status).toBe(415);
  });
});
