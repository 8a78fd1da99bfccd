import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { runTextSmoke } from '#providers';
import { FakeTextVendor } from '../harness/text-vendor/fake-text-vendor.js';

type Options = Parameters<typeof runTextSmoke>[0];

let vendor: FakeTextVendor;
let folder: string;
beforeAll(async () => {
  vendor = await FakeTextVendor.start();
  vendor.isStrict = true;
  folder = await mkdtemp(join(tmpdir(), 'smoke-text-'));
});
afterEach(() => {
  vendor.fault = 'none';
  vendor.listing = undefined;
});
afterAll(async () => {
  await vendor.stop();
  await rm(folder, { recursive: true });
});

const COSTS = { input_token: 1, output_token: 1 };

/** Runs it for one upstream, of which one token costs a millionth. */
async function smoke(protocol: string, name: string, { more = {}, ...options }: Partial<Options> & { more?: object }) {
  const file = join(folder, 'upstreams.yaml');
  const entry = {
    id: 'asked',
    protocol,
    base_url: vendor.baseUrl,
    key: '${VENDOR_KEY}',
    models: { model: name },
    costs: { unit: 'USD', per_quantity: 1_000_000, model: COSTS },
    ...more,
  };
  await writeFile(file, JSON.stringify({ upstreams: [entry] }));
  const lines: string[] = [];
  const asked = vendor.seen.length;
  const report = { say: (line: string): void => void lines.push(line) };
  const exit = await runTextSmoke({ file, upstream: 'asked', ...options }, report, { VENDOR_KEY: 'sk-vendor-key' });
  const patch = lines.find((line) => line.startsWith('What differs'));
  return {
    exit,
    said: lines.join('\n'),
    patch: patch && (parse(patch.slice(patch.indexOf('\n'))) as object),
    asked: vendor.seen.length - asked,
  };
}

/** What the strict vendor's rules know of each model, and the table says otherwise, is none. */
const HELD = [
  ['messages', 'claude-opus-5-5'],
  ['messages', 'claude-sonnet-5-5'],
  ['responses', 'gpt-6-astra'],
  ['responses', 'gpt-6-luna'],
  ['gemini', 'gemini-4-argon'],
] as const;

describe('npm run smoke --traits of a text upstream', () => {
  it.each(HELD)('finds that the vendor takes what the table says: %s, %s', async (protocol, name) => {
    const { exit, said, patch } = await smoke(protocol, name, { traits: true, spend: '1' });
    expect([patch, said]).toEqual([undefined, expect.stringContaining('as held')]);
    expect(exit).toBe(0);
  });

  it.each([
    [
      'messages',
      'claude-opus-5-5',
      { forced_tools: 'taken', sampling: 'all' },
      { forced_tools: 'refused', sampling: 'none' },
    ],
    ['messages', 'claude-opus-5-5', { system_messages: 'in_front' }, { system_messages: 'in_place' }],
    ['messages', 'claude-sonnet-5-5', { thinking_off: 'taken' }, { thinking_off: 'between_tools' }],
    ['messages', 'claude-opus-5-5', { thinking: 'budget' }, { thinking: 'effort' }],
    ['responses', 'gpt-6-astra', { efforts: ['none', 'low'] }, { efforts: ['low', 'medium', 'high', 'xhigh', 'max'] }],
    [
      'gemini',
      'gemini-4-argon',
      { penalties: 'taken', several_replies: 'taken' },
      { penalties: 'refused', several_replies: 'refused' },
    ],
    ['chat', 'gpt-4.1', { penalties: 'refused', sampling: 'none' }, { penalties: 'taken', sampling: 'all' }],
  ] as const)('prints what differs as a patch: %s, %s, %j', async (protocol, name, wrong, right) => {
    const more = { model_traits: { model: wrong } };
    const { exit, patch, said } = await smoke(protocol, name, { traits: true, spend: '1', more });
    expect(patch).toEqual({ model_traits: { model: expect.objectContaining(right) } });
    expect([exit, said]).toEqual([1, expect.stringContaining('DIFFERS')]);
  });

  it.each([
    ['messages', 'claude-opus-5-5', { max_output_tokens: 128_001 }, ['128001 > 128000']],
    ['gemini', 'gemini-4-argon', { max_output_tokens: 70_000 }, ['a limit of 70000: DIFFERS: refused']],
    [
      'gemini',
      'gemini-4-argon',
      { unstreamed_output_tokens: 40_000 },
      ['a limit of 40000, not streamed: DIFFERS: refused', 'a limit of 40001, not streamed: refused, as held'],
    ],
    [
      'gemini',
      'gemini-4-argon',
      { unstreamed_output_tokens: 20_000 },
      ['a limit of 20000, not streamed: taken, as held', 'a limit of 20001, not streamed: DIFFERS: taken'],
    ],
  ] as const)('finds limits of output that do not hold: %s, %s, %j', async (protocol, name, wrong, words) => {
    const more = { model_traits: { model: wrong } };
    const { exit, patch, said } = await smoke(protocol, name, { traits: true, spend: '1', more });
    expect(patch).toBeUndefined();
    expect(exit).toBe(1);
    for (const word of words) expect(said).toContain(word);
  });

  it.each([
    [
      'messages',
      'us.anthropic.claude-opus-5-5-v1:0',
      {
        data: [
          { id: 'other', max_input_tokens: 5 },
          { id: 'us.anthropic.claude-opus-5-5-v1:0', max_input_tokens: 900_000 },
        ],
      },
      { context_tokens: 900_000 },
    ],
    [
      'gemini',
      'models/gemini-4-argon',
      { models: [{ name: 'models/gemini-4-argon', inputTokenLimit: 2_097_152, outputTokenLimit: 65_536 }] },
      { context_tokens: 2_097_152 },
    ],
    ['chat', 'vendor/small', { data: [{ id: 'vendor/small', context_length: 32_768 }] }, { context_tokens: 32_768 }],
    ['chat', 'small', { data: [{ id: 'small', max_model_len: 8_192 }] }, { context_tokens: 8_192 }],
    ['chat', 'small', { data: [{ id: 'small', max_model_len: '8192' }] }, undefined],
    ['chat', 'small', { data: [{ id: 'another', max_model_len: 8_192 }] }, undefined],
  ])('reads in the list of the vendor how much a model reads: %s, %s, %j', async (protocol, name, body, told) => {
    vendor.listing = { status: 200, body };
    const read = (patch: unknown): unknown =>
      (patch as { model_traits?: { model: { context_tokens?: number } } } | undefined)?.model_traits?.model
        .context_tokens;
    const { patch, said } = await smoke(protocol, name, { traits: true, spend: '1' });
    const more = { model_traits: { model: { context_tokens: told?.context_tokens ?? 1 } } };
    const again = await smoke(protocol, name, { traits: true, spend: '1', more });
    expect([read(patch), read(again.patch)]).toEqual([told?.context_tokens, undefined]);
    const words = told ? [/context_tokens: DIFFERS/, /context_tokens: .* as held/] : [/context_tokens: not known/];
    expect(said).toMatch(words[0]!);
    expect(again.said).toMatch(words.at(-1)!);
  });

  it('asks for the limits of output as one that a reply may reach', async () => {
    const { said } = await smoke('messages', 'claude-opus-5-5', { traits: true, spend: '0.1' });
    expect(said).toContain('a limit of 128000: not known (it may cost more than is left of --spend)');
    const whole = await smoke('messages', 'claude-opus-5-5', { traits: true, spend: '0.2' });
    expect(whole.said).toContain('a limit of 128000: taken, as held');
  });

  it('asks no more than may be spent, and says what it did not ask', async () => {
    const { asked, said } = await smoke('messages', 'claude-opus-5-5', { traits: true, spend: '0.00165' });
    expect(asked).toBeLessThan(12);
    expect(said).toContain('it may cost more than is left of --spend');
  });

  it.each([
    [{ traits: true }, 2, 'needs --spend'],
    [{ traits: true, spend: '1', more: { costs: {} } }, 2, 'no costs for model'],
    [{ model: 'other', traits: true, spend: '1' }, 2, 'has no model other'],
  ])('asks nothing of models with %j', async (options, code, words) => {
    vendor.listing = { status: 200, body: { data: [{ id: 'claude-opus-5-5' }] } };
    const { exit, said, asked } = await smoke('messages', 'claude-opus-5-5', options);
    expect([exit, said, asked]).toEqual([code, expect.stringContaining(words), 0]);
  });

  it('takes a vendor that is away for no answer', async () => {
    vendor.listing = { status: 200, body: { data: [] } };
    Object.assign(vendor, { fault: 'refusal', refusal: { status: 503 }, faultyRequests: Number.POSITIVE_INFINITY });
    const { exit, said, patch } = await smoke('chat', 'gpt-4.1', { traits: true, spend: '1' });
    expect([exit, patch, said]).toEqual([1, undefined, expect.stringContaining('not asked')]);
  });

  it('proves address and key alone without it, and shows what it would send', async () => {
    vendor.listing = { status: 401, body: { error: { message: 'bad key sk-vendor-key' } } };
    const wrong = await smoke('chat', 'gpt-4.1', {});
    expect([wrong.exit, wrong.said]).toEqual([1, expect.stringContaining('wrong_key')]);
    expect(wrong.said).not.toContain('sk-vendor-key');
    vendor.listing = { status: 200, body: { data: [] } };
    expect(await smoke('chat', 'gpt-4.1', {})).toMatchObject({ exit: 0, asked: 0, said: 'asked: the key works.' });
    const shown = await smoke('gemini', 'gemini-4-argon', { traits: true, dryRun: true });
    expect([shown.exit, shown.asked, shown.said]).toEqual([0, 0, expect.stringContaining('"candidateCount": 2')]);
  });

  it('leaves upstreams of media to their own', async () => {
    const file = join(folder, 'media.yaml');
    await writeFile(file, JSON.stringify({ media_upstreams: [{ id: 'asked', protocol: 'sandbox', models: 'all' }] }));
    expect(await runTextSmoke({ file, upstream: 'asked' }, { say: () => undefined }, {})).toBeUndefined();
  });
});
