import {
  MODEL_OVER,
  startTextGateway,
  type TextGateway,
  type Upstream,
} from '../apps/gateway/src/testing/text-vendor/text-gateway.js';
import { CUT_OFF, itIsCutOff } from './cut-off.js';
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
const GEMINI = { name: '@google/gemini-cli', version: '0.61.0', command: 'gemini' };

const shell = (command: string): Step => ({ tool: 'run_shell_command', args: { command, description: 'Runs it' } });

const STEPS: readonly [Step, ...Step[]] = [
  { tool: 'read_file', args: { file_path: NOTES } },
  shell(BINARY_OUTPUT),
  shell(`${LONG_WORDS}; printf 'changed\\n' > ${NOTES}`),
  { tool: 'read_file', args: { file_path: PICTURE } },
  { ...shell('echo one'), beside: shell(`echo ${BESIDE}`) },
  ...[6, 7, 8, 9, 10].map((turn) => shell(`echo turn ${turn}`)),
];

const SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
};

describeWithCli(GEMINI, (path) => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway({}, { idleSeconds: 10 });
    gateway.vendor.isStrict = true;
  });
  afterAll(() => gateway.stop());

  async function session(upstream: Upstream, prompt: string, { key, baseUrl } = gateway) {
    const place = await makePlace();
    await place.write('home/.gemini/settings.json', JSON.stringify(SETTINGS));
    const environment = { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: baseUrl, GEMINI_CLI_TRUST_WORKSPACE: 'true' };
    const args = ['--yolo', '-m', MODEL_OVER[upstream], '-p', prompt];
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
  itIsCutOff(
    () => gateway,
    STEPS,
    CUT_OFF,
    () => session('messages', 'Look at the notes.'),
  );

  it(
    'calls a tool and ends over the sandbox',
    async () => {
      const { code, output } = await session('sandbox', 'Use list_directory once.');
      expect([code, output]).toEqual([0, expect.stringContaining('list_directory')]);
    },
    LIMIT_MS,
  );
});
