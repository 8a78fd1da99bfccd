import {
  MODEL_OVER,
  startTextGateway,
  type TextGateway,
  type Upstream,
} from '../apps/gateway/src/testing/text-vendor/text-gateway.js';
import { itIsCutOff } from './cut-off.js';
import { EVERY_FAILOVER, itFailsOver } from './failing-over.js';
import { describeWithCli } from './install-cli.js';
import { type AgentRun, makePlace, NOTES, PICTURE, runCli } from './run-cli.js';
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
const CODEX = { name: '@openai/codex', version: '0.169.0', command: 'codex' };

const run = (cmd: string): Step => ({ tool: 'exec_command', args: { cmd } });
const STEPS: readonly [Step, ...Step[]] = [
  run(`cat ${NOTES}`),
  run(BINARY_OUTPUT),
  run(`${LONG_WORDS}; printf 'changed\\n' > ${NOTES}`),
  { tool: 'view_image', args: { path: PICTURE } },
  { ...run('echo one'), beside: run(`echo ${BESIDE}`) },
  ...[6, 7, 8, 9, 10].map((turn) => run(`echo turn ${turn}`)),
];

const settings = (baseUrl: string, model: string): string => `
model = "${model}"
model_provider = "gateway"
[model_providers.gateway]
name = "gateway"
base_url = "${baseUrl}/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"
`;

describeWithCli(CODEX, (path) => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway({}, { idleSeconds: 10 });
    gateway.vendor.isStrict = true;
  });
  afterAll(() => gateway.stop());

  async function session(
    upstream: Upstream,
    prompt: string,
    { baseUrl, key } = gateway,
  ): Promise<AgentRun & { readonly notes: string }> {
    const place = await makePlace();
    await place.write('home/.codex/config.toml', settings(baseUrl, MODEL_OVER[upstream]));
    const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt];
    const ended = await runCli(path, args, place, { GATEWAY_KEY: key });
    const notes = await place.notes();
    await place.remove();
    return { ...ended, notes };
  }

  it.each(['responses', 'chat', 'messages', 'gemini'] as const)(
    'lives through ten turns with its defaults over a strict %s upstream',
    async (upstream) => {
      gateway.vendor.script = scriptedSession(STEPS);
      const asked = gateway.vendor.seen.length;
      const { code, output, notes } = await session(upstream, 'Look at the notes and change them.');
      expect([code, output]).toEqual([0, expect.stringContaining(LAST_WORDS)]);
      expect([notes, gateway.vendor.seen.length - asked]).toEqual(['changed\n', STEPS.length + 1]);
      // How every PNG begins.
      expect(gateway.vendor.last.text).toContain('iVBOR');
      expect(gateway.vendor.last.text).toMatch(RETURNED_BESIDE);
    },
    LIMIT_MS,
  );

  itFailsOver(EVERY_FAILOVER, STEPS, (upstream, failing, prompt) => session(upstream, prompt, failing));
  itIsCutOff(
    () => gateway,
    STEPS,
    /max_output_tokens/,
    () => session('messages', 'Look at the notes.'),
  );

  it(
    'calls a tool and ends with its defaults over the sandbox',
    async () => {
      const { code, output } = await session('sandbox', 'Use exec_command once.');
      expect([code, output]).toEqual([0, expect.stringContaining('exec')]);
    },
    LIMIT_MS,
  );
});
