import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { FakeArkImage } from '../testing/fake-ark-image.js';
import { FakeMinimax } from '../testing/fake-minimax.js';
import { FakeVendor } from '../testing/fake-vendor.js';
import { runSmoke, type SmokeOptions } from './run-smoke.js';

describe('npm run smoke', () => {
  let vendor: FakeVendor<FakeArkImage>;
  let folder: string;
  let file: string;

  beforeAll(async () => {
    vendor = await FakeVendor.start(new FakeArkImage());
    folder = await mkdtemp(join(tmpdir(), 'smoke-'));
    file = join(folder, 'upstreams.yaml');
    await writeFile(
      file,
      `media_upstreams:
  - id: ark
    protocol: ark-image
    base_url: ${vendor.baseUrl}
    key: \${ARK_KEY}
    models: { kappa-a-4-0: seedream-4-0-250828 }
    costs: { unit: USD, kappa-a-4-0: 0.03 }
`,
    );
  });
  afterEach(() => vendor.reset());
  afterAll(async () => {
    await vendor.close();
    await rm(folder, { recursive: true });
  });

  async function smoke(options: Partial<SmokeOptions> = {}, key = vendor.protocol.key) {
    const lines: string[] = [];
    const records: unknown[] = [];
    const report = {
      say: (line: string) => void lines.push(line),
      record: (_: string, it: unknown) => void records.push(it),
    };
    const exit = await runSmoke({ file, upstream: 'ark', ...options }, report, { ARK_KEY: key });
    return { exit, said: lines.join('\n'), records };
  }

  it('proves a key and orders nothing', async () => {
    const before = vendor.protocol.taken.length;
    expect(await smoke()).toMatchObject({ exit: 0, said: expect.stringContaining('the key works') });
    expect(vendor.protocol.taken.length).toBe(before);
  });

  it('ends with 1 and the reason for a wrong key', async () => {
    const { exit, said } = await smoke({}, 'another-key');
    expect([exit, said]).toEqual([1, expect.stringContaining('wrong_key 401 AuthenticationError')]);
    expect(said).toContain('does base_url match the key?');
    expect(said).not.toContain('another-key');
  });

  it('ends with 2 for an entry that is not there, and for a file that is wrong', async () => {
    expect(await smoke({ upstream: 'other' })).toMatchObject({ exit: 2, said: expect.stringContaining('"other"') });
    expect(await smoke({}, '')).toMatchObject({
      exit: 2,
      said: expect.stringMatching(/:5: .*ARK_KEY, which is not set/),
    });
  });

  it('says what to check when nothing answers, or when another service does', async () => {
    vendor.next('cut-early');
    expect(await smoke()).toMatchObject({
      exit: 1,
      said: expect.stringMatching(/away There was no response \(\w+\)\./),
    });
    for (const fault of ['redirect', 'html', { status: 404, body: null }] as const) {
      vendor.next(fault);
      expect(await smoke()).toMatchObject({ exit: 1, said: expect.stringContaining('not_this_protocol') });
    }
  });

  it('refuses a model that the upstream does not make, and an amount that is none, before anything is sent', async () => {
    const unmade = await smoke({ model: 'delta-v2-6' });
    expect(unmade).toMatchObject({ exit: 2, said: expect.stringContaining('it makes kappa-a-4-0') });
    expect(await smoke({ spend: 'much' })).toMatchObject({ exit: 2 });
    expect(vendor.requests).toEqual([]);
  });

  it('shows the requests at their whole address, without the key, and sends nothing', async () => {
    const { exit, said } = await smoke({ dryRun: true });
    expect([exit, JSON.parse(said)]).toEqual([
      0,
      expect.objectContaining({ method: 'POST', path: '/api/v3/images/generations' }),
    ]);
    expect(said).not.toContain(vendor.protocol.key);
    expect(vendor.requests).toEqual([]);
  });

  it('orders one of each model within what may be spent, and records replies without signatures', async () => {
    const { exit, said, records } = await smoke({ spend: '0.03', record: true });
    expect(said).toContain('1 order, 0.03 together.');
    expect([exit, said]).toEqual([0, expect.stringMatching(/kappa-a-4-0: done after .*\n {2}output: image\/jpeg/)]);
    expect(JSON.stringify(records)).toContain('https://ark-content.example.com/0.jpeg"');
    expect(JSON.stringify(records)).not.toMatch(/sign=|Bearer/);
  });

  it('records no signature of a link that stands inside a sentence', async () => {
    const message = 'Gone: https://files.example/a.png?sign=1 since today.';
    vendor.next({ status: 400, body: { error: { code: 'Gone', message } } });
    const { exit, records } = await smoke({ record: true });
    expect([exit, JSON.stringify(records)]).toEqual([1, expect.stringContaining('a.png since today.')]);
  });

  it('orders nothing when that costs more than may be spent', async () => {
    expect(await smoke({ spend: '0.02' })).toMatchObject({
      exit: 2,
      said: expect.stringContaining('Nothing was ordered'),
    });
  });
});

describe('npm run smoke with --traits', () => {
  let vendor: FakeVendor<FakeMinimax>;
  let folder: string;
  beforeAll(async () => {
    vendor = await FakeVendor.start(new FakeMinimax());
    folder = await mkdtemp(join(tmpdir(), 'smoke-'));
  });
  afterEach(() => vendor.reset());
  afterAll(async () => {
    await vendor.close();
    await rm(folder, { recursive: true });
  });

  async function ask(options: Partial<SmokeOptions> & { entry?: object }) {
    const { entry = {}, ...others } = options;
    const file = join(folder, 'upstreams.yaml');
    const costs = { unit: 'USD', 'epsilon-02': 0.01 };
    const models = { 'epsilon-02': 'MiniMax-Hailuo-02' };
    const { key } = vendor.protocol;
    const media = [{ id: 'it', protocol: 'minimax', base_url: vendor.baseUrl, key, models, costs, ...entry }];
    await writeFile(file, JSON.stringify({ media_upstreams: media }));
    const lines: string[] = [];
    const report = { say: (line: string) => void lines.push(line), record: () => undefined };
    const before = vendor.protocol.taken.length;
    const exit = await runSmoke({ file, upstream: 'it', spend: '10', traits: true, ...others }, report, {});
    return { exit, said: lines.join('\n'), taken: vendor.protocol.taken.length - before };
  }

  it('asks for what each rule forbids and just allows, and finds the vendor as it is held to be', async () => {
    const { exit, said, taken } = await ask({});
    expect([exit, said]).toEqual([0, expect.not.stringContaining('DIFFERS')]);
    expect(said).toMatch(/epsilon-02 prompt "a a .*: refused, as held/);
    expect(said).toMatch(/epsilon-02 prompt "a a .*: taken, as held/);
    expect(said).toMatch(/epsilon-02 resolution "512p": refused, as held/);
    expect(taken).toBeGreaterThan(0);
  });

  it('prints what differs as lines of the entry, which then hold', async () => {
    const traits = { 'epsilon-02': { prompt: { most: 100 }, duration: { one_of: [5] } } };
    const { exit, said } = await ask({ entry: { model_traits: traits } });
    expect([exit, said]).toEqual([1, expect.stringContaining('epsilon-02 duration 10: DIFFERS: taken')]);
    const printed = parse(said.slice(said.indexOf('model_traits:'))) as object;
    expect(printed).toEqual({ model_traits: { 'epsilon-02': { prompt: [], duration: [{ one_of: [5, 10] }] } } });
    expect((await ask({ entry: { model_traits: { 'epsilon-02': { duration: { one_of: [5, 10] } } } } })).exit).toBe(0);
  });

  it('orders nothing beyond what may be spent, and nothing without an amount', async () => {
    const { said, taken, exit } = await ask({ spend: '0.07' });
    expect([taken, exit]).toEqual([1, 0]);
    expect(said).toContain('it may cost more than is left of --spend');
    expect(await ask({ spend: undefined })).toMatchObject({
      exit: 2,
      taken: 0,
      said: expect.stringContaining('--spend'),
    });
  });
});
