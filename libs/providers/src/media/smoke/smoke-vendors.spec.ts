import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SafeFetcher } from '#platform';
import { FakeArkImage } from '../testing/fake-ark-image.js';
import { FakeArkVideo } from '../testing/fake-ark-video.js';
import { FakeDashscopeImage } from '../testing/fake-dashscope-image.js';
import { FakeDashscopeVideo } from '../testing/fake-dashscope-video.js';
import { FakeFal } from '../testing/fake-fal.js';
import { FakeGateway } from '../testing/fake-gateway.js';
import { FakeGoogleTokens } from '../testing/fake-google-tokens.js';
import { FakeKling } from '../testing/fake-kling.js';
import { FakeMinimax } from '../testing/fake-minimax.js';
import { FakeVendor, type FakeProtocol } from '../testing/fake-vendor.js';
import { FakeVertex } from '../testing/fake-vertex.js';
import { FakeVidu } from '../testing/fake-vidu.js';
import { FakeXaiImage } from '../testing/fake-xai-image.js';
import type { VendorProtocol } from '../media-protocols.js';
import { makeableModels } from '../media-upstream-entry.js';
import { runSmoke } from './run-smoke.js';

type Taking = FakeProtocol & { readonly taken: readonly unknown[] };

/** Every vendor but the one that wants a token first: a protocol that is missing here is an error of types. */
const FAKES: Readonly<Record<Exclude<VendorProtocol, 'vertex-veo'>, () => Taking>> = {
  'ark-image': () => new FakeArkImage(),
  'ark-video': () => new FakeArkVideo(),
  'dashscope-image': () => new FakeDashscopeImage(),
  'dashscope-video': () => new FakeDashscopeVideo(),
  fal: () => new FakeFal(),
  gateway: () => new FakeGateway(),
  kling: () => new FakeKling(),
  minimax: () => new FakeMinimax(),
  vidu: () => new FakeVidu(),
  'xai-image': () => new FakeXaiImage(),
};
const VENDORS = Object.entries(FAKES) as [keyof typeof FAKES, () => Taking][];

describe('npm run smoke with --spend', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'smoke-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('makes one of each model of vertex-veo, with a token, and shows neither it nor the key', async () => {
    const vendor = await FakeVendor.start(new FakeVertex());
    const google = await FakeGoogleTokens.start(vendor.protocol.key);
    const models = [...makeableModels('vertex-veo').keys()];
    const costs = { unit: 'USD', ...Object.fromEntries(models.map((model) => [model, 0.01])) };
    const entry = {
      id: 'veo',
      protocol: 'vertex-veo',
      base_url: vendor.baseUrl,
      key: google.key,
      models: 'all',
      costs,
    };
    const file = join(folder, 'vertex-veo.yaml');
    await writeFile(file, JSON.stringify({ media_upstreams: [entry] }));
    const lines: string[] = [];
    const records: unknown[] = [];
    const report = {
      say: (line: string) => void lines.push(line),
      record: (_: string, exchange: unknown) => void records.push(exchange),
    };
    const fetcher = new SafeFetcher({ allow: ['127.0.0.0/8'], ports: 'any', maxRedirects: 0 });
    const options = { file, upstream: 'veo', spend: '100', record: true };
    const exit = await runSmoke(options, report, {}, { wait: async () => undefined, fetcher });
    const secrets = [google.key, vendor.protocol.key];
    await vendor.close();
    await google.close();
    expect([exit, lines.filter((line) => line.includes(': done after ')).length]).toEqual([0, models.length]);
    expect(lines.join('\n')).toContain('file 0: 7 bytes in the reply');
    const shown = JSON.stringify([lines, records]);
    for (const secret of secrets) expect(shown).not.toContain(secret);
  });

  it('asks again after a check that a paid order did not cause to fail', async () => {
    const vendor = await FakeVendor.start(new FakeArkVideo());
    const costs = { unit: 'USD', 'alpha-2.0': 0.01 };
    const { key } = vendor.protocol;
    const models = { 'alpha-2.0': 'dreamina-seedance-2-0-260128' };
    const entry = { id: 'it', protocol: 'ark-video', base_url: vendor.baseUrl, key, models, costs };
    const file = join(folder, 'again.yaml');
    await writeFile(file, JSON.stringify({ media_upstreams: [entry] }));
    const faults: (() => void)[] = [
      () => vendor.next({ status: 503, body: {} }),
      () => vendor.next({ status: 429, body: {} }),
    ];
    const tools = { wait: async () => faults.shift()?.() };
    const report = { say: () => undefined, record: () => undefined };
    const exit = await runSmoke({ file, upstream: 'it', spend: '1' }, report, {}, tools);
    await vendor.close();
    expect([exit, vendor.protocol.taken.length, faults]).toEqual([0, 1, []]);
  });

  it.each(VENDORS)('makes one of each model of %s, and says when each is done', async (protocol, fake) => {
    const vendor = await FakeVendor.start(fake());
    const models = [...makeableModels(protocol).keys()];
    const costs = { unit: 'USD', ...Object.fromEntries(models.map((model) => [model, 0.01])) };
    const entry = { id: 'it', protocol, base_url: vendor.baseUrl, key: vendor.protocol.key, models: 'all', costs };
    const file = join(folder, `${protocol}.yaml`);
    await writeFile(file, JSON.stringify({ media_upstreams: [entry] }));
    const lines: string[] = [];
    const report = { say: (line: string) => void lines.push(line), record: () => undefined };
    const exit = await runSmoke({ file, upstream: 'it', spend: '100' }, report, {}, { wait: async () => undefined });
    await vendor.close();
    expect([exit, lines.filter((line) => line.includes(': done after ')).length]).toEqual([0, models.length]);
    expect(vendor.protocol.taken).toHaveLength(models.length);
    expect(lines.join()).not.toContain(vendor.protocol.key);
  });
});
