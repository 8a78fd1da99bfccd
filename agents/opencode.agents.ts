import {
  MODEL_OVER,
  startTextGateway,
  type TextGateway,
  type Upstream,
} from '../apps/gateway/src/testing/text-vendor/text-gateway.js';
import { CUT_OFF, itIsCutOff } from './cut-off.js';
import { type Failover, itFailsOver } from './failing-over.js';
import { describeWithCli } from './install-cli.js';
import { type AgentRun, makePlace, NOTES, PICTURE, PICTURE_BASE64, runCli } from './run-cli.js';
import {
  BESIDE,
  BINARY_OUTPUT,
  LAST_WORDS,
  LONG_WORDS,
  RETURNED_BESIDE,
  scriptedSession,
  type Step,
} from './scripted-session.js';

const LIMIT_MS = 120_000;
const OPENCODE = { name: 'opencode-ai', version: '1.18.33', command: 'opencode', setUp: 'postinstall.mjs' };

/** Its providers, and the path that each wants behind the address of the gateway. */
const PROVIDERS = {
  '@ai-sdk/openai-compatible': '/v1',
  '@ai-sdk/openai': '/v1',
  '@ai-sdk/anthropic': '/v1',
  '@ai-sdk/google': '/v1beta',
} as const;
type Provider = keyof typeof PROVIDERS;

/** The upstream that fails in the middle with each provider, and the one that goes on. */
const FAILOVERS = {
  '@ai-sdk/openai-compatible': ['chat', 'messages'],
  '@ai-sdk/openai': ['responses', 'chat'],
  '@ai-sdk/anthropic': ['messages', 'gemini'],
  '@ai-sdk/google': ['gemini', 'responses'],
} as const satisfies Record<Provider, Failover>;

const bash = (command: string): Step => ({ tool: 'bash', args: { command, description: 'Runs a command' } });
const STEPS: readonly [Step, ...Step[]] = [
  { tool: 'read', args: { filePath: NOTES } },
  bash(BINARY_OUTPUT),
  bash(`${LONG_WORDS}; printf 'changed\\n' > ${NOTES}`),
  { tool: 'read', args: { filePath: PICTURE } },
  { ...bash('echo one'), beside: bash(`echo ${BESIDE}`) },
  ...[6, 7, 8, 9, 10].map((turn) => bash(`echo turn ${turn}`)),
];

/** What opencode must be told of a model that it does not know. */
const SEES = { attachment: true, tool_call: true, modalities: { input: ['text', 'image'], output: ['text'] } };

function settings(gateway: TextGateway, provider: Provider, model: string): string {
  const options = { baseURL: gateway.baseUrl + PROVIDERS[provider], apiKey: gateway.key };
  return JSON.stringify({
    model: `gateway/${model}`,
    small_model: `gateway/${model}`,
    share: 'disabled',
    autoupdate: false,
    permission: { '*': 'allow' },
    provider: { gateway: { npm: provider, options, models: { [model]: SEES } } },
  });
}

describeWithCli(OPENCODE, (path) => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway({}, { idleSeconds: 10 });
    gateway.vendor.isStrict = true;
  });
  afterAll(() => gateway.stop());

  async function session(provider: Provider, upstream: Upstream, prompt: string, at = gateway) {
    const place = await makePlace();
    await place.write('work/opencode.json', settings(at, provider, MODEL_OVER[upstream]));
    const environment = { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' };
    const ended: AgentRun = await runCli(path, ['run', prompt], place, environment);
    const notes = await place.notes();
    await place.remove();
    return { ...ended, notes };
  }

  describe.each(Object.keys(PROVIDERS) as Provider[])('with %s', (provider) => {
    it.each(['responses', 'chat', 'messages', 'gemini'] as const)(
      'lives through ten turns over a strict %s upstream',
      async (upstream) => {
        gateway.vendor.script = scriptedSession(STEPS);
        const asked = gateway.vendor.seen.length;
        const { code, output, notes } = await session(provider, upstream, 'Look at the notes and change them.');
        expect([code, output]).toEqual([0, expect.stringContaining(LAST_WORDS)]);
        expect(notes).toBe('changed\n');
        expect(gateway.vendor.seen.slice(asked).some(({ text }) => text.includes(PICTURE_BASE64))).toBe(true);
        expect(gateway.vendor.seen.slice(asked).some(({ text }) => RETURNED_BESIDE.test(text))).toBe(true);
      },
      LIMIT_MS,
    );

    itFailsOver([FAILOVERS[provider]], STEPS, (upstream, failing, prompt) =>
      session(provider, upstream, prompt, failing),
    );
    itIsCutOff(
      () => gateway,
      STEPS,
      CUT_OFF,
      () => session(provider, 'messages', 'Look at the notes.'),
    );

    it(
      'ends over the sandbox',
      async () => {
        const { code, output } = await session(provider, 'sandbox', 'Say hello.');
        expect([code, output]).toEqual([0, expect.stringMatching(/\S/)]);
      },
      LIMIT_MS,
    );
  });
});
