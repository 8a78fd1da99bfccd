import { MODEL_OVER, type TextGateway } from '../tests/harness/text-vendor/text-gateway.js';
import type { SetUp } from './agent.js';
import { describeAgent, itEndsOverSandbox, itLivesLong } from './agent-suite.js';
import { itIsCutOff } from './cut-off.js';
import { type Failover, itFailsOver, itStays } from './failing-over.js';
import { NOTES, IMAGE } from './run-cli.js';
import { BESIDE, BINARY_OUTPUT, LONG_WORDS, type Step, type Steps } from './scripted-session.js';

const OPENCODE = { name: 'opencode-ai', version: '1.18.33', command: 'opencode', setUp: 'postinstall.mjs' };

/** Its providers, and the path that each wants behind the address of the gateway. */
const PROVIDERS = {
  '@ai-sdk/openai-compatible': '/v1',
  '@ai-sdk/openai': '/v1',
  '@ai-sdk/anthropic': '/v1',
  '@ai-sdk/google': '/v1beta',
} as const;
type Provider = keyof typeof PROVIDERS;

/** The upstream that fails in the middle, or is left, with each provider, and the one that takes over. */
const FAILOVERS = {
  '@ai-sdk/openai-compatible': ['chat', 'messages'],
  '@ai-sdk/openai': ['responses', 'chat'],
  '@ai-sdk/anthropic': ['messages', 'gemini'],
  '@ai-sdk/google': ['gemini', 'responses'],
} as const satisfies Record<Provider, Failover>;

const bash = (command: string): Step => ({ tool: 'bash', args: { command, description: 'Runs a command' } });
const STEPS: Steps = [
  { tool: 'read', args: { filePath: NOTES } },
  bash(BINARY_OUTPUT),
  bash(`${LONG_WORDS}; printf 'changed\\n' > ${NOTES}`),
  { tool: 'read', args: { filePath: IMAGE } },
  { ...bash('echo one'), beside: bash(`echo ${BESIDE}`) },
  ...[6, 7, 8, 9, 10].map((turn) => bash(`echo turn ${turn}`)),
];

/** The settings opencode needs for a model that it does not know. */
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

const setUp =
  (provider: Provider): SetUp =>
  (upstream, gateway) => ({
    files: { 'work/opencode.json': settings(gateway, provider, MODEL_OVER[upstream]) },
    environment: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    asking: (prompt) => ['run', prompt],
    resuming: (prompt) => ['run', '--continue', '--model', `gateway/${MODEL_OVER[upstream]}`, prompt],
  });

describeAgent(OPENCODE, (open) => {
  describe.each(Object.keys(PROVIDERS) as Provider[])('with %s', (provider) => {
    const agent = open(STEPS, setUp(provider));
    itLivesLong(agent, [FAILOVERS[provider]]);
    itFailsOver(agent, [FAILOVERS[provider]]);
    itStays(agent, FAILOVERS[provider][0]);
    itIsCutOff(agent);
    itEndsOverSandbox(agent, 'Say hello.', /\S/);
  });
});
