import {
  MODEL_OVER,
  startTextGateway,
  type TextGateway,
  type Upstream,
} from '../apps/gateway/src/testing/text-vendor/text-gateway.js';
import { EVERY_FAILOVER, itFailsOver } from './failing-over.js';
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
const CLAUDE = { name: '@anthropic-ai/claude-code', version: '2.1.330', command: 'claude', setUp: 'install.cjs' };

const bash = (command: string): Step => ({ tool: 'Bash', args: { command, description: 'Runs a command' } });

const STEPS: readonly [Step, ...Step[]] = [
  { tool: 'Read', args: { file_path: NOTES } },
  bash(BINARY_OUTPUT),
  bash(`${LONG_WORDS}; printf 'changed\\n' > ${NOTES}`),
  { tool: 'Read', args: { file_path: PICTURE } },
  { ...bash('echo one'), beside: bash(`echo ${BESIDE}`) },
  ...[6, 7, 8, 9, 10].map((turn) => bash(`echo turn ${turn}`)),
];

describeWithCli(CLAUDE, (path) => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway({}, { idleSeconds: 10 });
    gateway.vendor.isStrict = true;
  });
  afterAll(() => gateway.stop());

  async function session(upstream: Upstream, prompt: string, { key, baseUrl } = gateway) {
    const place = await makePlace();
    const environment = {
      ANTHROPIC_BASE_URL: baseUrl,
      ANTHROPIC_AUTH_TOKEN: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      // It asks nobody, as root too, where it is told that there is nothing to lose.
      IS_SANDBOX: '1',
    };
    const args = ['--print', prompt, '--model', MODEL_OVER[upstream], '--dangerously-skip-permissions'];
    const ended: AgentRun = await runCli(path, args, place, environment);
    const notes = await place.notes();
    await place.remove();
    return { ...ended, notes };
  }

  it.each(['responses', 'chat', 'messages', 'gemini'] as const)(
    'lives through ten turns over a strict %s upstream',
    async (upstream) => {
      gateway.vendor.script = scriptedSession(STEPS);
      const asked = gateway.vendor.seen.length;
      const { code, output, notes } = await session(upstream, 'Look at the notes and change them.');
      expect([code, output]).toEqual([0, expect.stringContaining(LAST_WORDS)]);
      expect([notes, gateway.vendor.seen.length - asked]).toEqual(['changed\n', STEPS.length + 1]);
      expect(gateway.vendor.last.text).toContain(PICTURE_BASE64);
      expect(gateway.vendor.last.text).toMatch(RETURNED_BESIDE);
    },
    LIMIT_MS,
  );

  itFailsOver(EVERY_FAILOVER, STEPS, (upstream, failing, prompt) => session(upstream, prompt, failing));

  it(
    'ends over the sandbox',
    async () => {
      const { code, output } = await session('sandbox', 'Say hello.');
      expect([code, output]).toEqual([0, expect.stringContaining('sandbox writer')]);
    },
    LIMIT_MS,
  );
});
