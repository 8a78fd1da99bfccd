import { readFileSync } from 'node:fs';
import { signals } from '#platform';
import { MODEL_OVER } from '../tests/harness/text-vendor/text-gateway.js';
import { LIMIT_MS, session, type SetUp } from './agent.js';
import { describeAgent, itEndsOverSandbox, itLivesLong } from './agent-suite.js';
import { itIsCutOff } from './cut-off.js';
import { itFailsOver, itStays } from './failing-over.js';
import { NOTES, IMAGE } from './run-cli.js';
import {
  BESIDE,
  BINARY_OUTPUT,
  LAST_WORDS,
  LONG_WORDS,
  scriptedSession,
  type Step,
  type Steps,
} from './scripted-session.js';

const CODEX = { name: '@openai/codex', version: '0.169.0', command: 'codex' };

const run = (cmd: string): Step => ({ tool: 'exec_command', args: { cmd } });
const STEPS: Steps = [
  run(`cat ${NOTES}`),
  run(BINARY_OUTPUT),
  run(`${LONG_WORDS}; printf 'changed\\n' > ${NOTES}`),
  { tool: 'view_image', args: { path: IMAGE } },
  { ...run('echo one'), beside: run(`echo ${BESIDE}`) },
  ...[6, 7, 8, 9, 10].map((turn) => run(`echo turn ${turn}`)),
];

/** The entry that the page for clients tells people to write. */
const ENTRY = /```toml\n(.*?)```/s.exec(readFileSync('docs/clients.md', 'utf8'))?.[1] ?? '';

const settings = (baseUrl: string, model: string): string =>
  ENTRY.replace('MODEL', model).replace('GATEWAY/v1', `${baseUrl}/v1`);

const setUp: SetUp = (upstream, { baseUrl, key }) => {
  const freely = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
  return {
    files: { 'home/.codex/config.toml': settings(baseUrl, MODEL_OVER[upstream]) },
    environment: { GATEWAY_KEY: key },
    asking: (prompt) => ['exec', ...freely, prompt],
    resuming: (prompt) => ['exec', ...freely, 'resume', '--last', prompt],
  };
};

describeAgent(CODEX, (open) => {
  // How every PNG begins: it sends one of its own making.
  const agent = open(STEPS, setUp, 'iVBOR');
  itLivesLong(agent);
  itFailsOver(agent);
  itStays(agent, 'responses');
  itIsCutOff(agent, /max_output_tokens/);
  itEndsOverSandbox(agent, 'Use exec_command once.', /exec/);

  it(
    'asks for no WebSocket with the entry of the page for clients',
    async () => {
      const refused = async (): Promise<number> =>
        (await signals.httpRequests.get()).values
          .filter(({ labels }) => String(labels.code) === '426')
          .reduce((sum, { value }) => sum + value, 0);
      const before = await refused();
      agent.gateway().vendor.script = scriptedSession(STEPS.slice(0, 2));
      const { code, output } = await session(agent, 'responses', 'Look at the notes.');
      expect([code, output, (await refused()) - before]).toEqual([0, expect.stringContaining(LAST_WORDS), 0]);
    },
    LIMIT_MS,
  );
});
