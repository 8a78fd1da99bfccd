import { MODEL_OVER } from '../tests/harness/text-vendor/text-gateway.js';
import type { SetUp } from './agent.js';
import { describeAgent, itEndsOverSandbox, itLivesLong } from './agent-suite.js';
import { itFailsOver, itStays } from './failing-over.js';
import { NOTES, IMAGE } from './run-cli.js';
import { BESIDE, BINARY_OUTPUT, LONG_WORDS, type Step, type Steps } from './scripted-session.js';

const CLAUDE = { name: '@anthropic-ai/claude-code', version: '2.1.330', command: 'claude', setUp: 'install.cjs' };

const bash = (command: string): Step => ({ tool: 'Bash', args: { command, description: 'Runs a command' } });

const STEPS: Steps = [
  { tool: 'Read', args: { file_path: NOTES } },
  bash(BINARY_OUTPUT),
  bash(`${LONG_WORDS}; printf 'changed\\n' > ${NOTES}`),
  { tool: 'Read', args: { file_path: IMAGE } },
  { ...bash('echo one'), beside: bash(`echo ${BESIDE}`) },
  ...[6, 7, 8, 9, 10].map((turn) => bash(`echo turn ${turn}`)),
];

const setUp: SetUp = (upstream, { baseUrl, key }) => {
  const more = ['--model', MODEL_OVER[upstream], '--dangerously-skip-permissions'];
  return {
    environment: {
      ANTHROPIC_BASE_URL: baseUrl,
      ANTHROPIC_AUTH_TOKEN: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      // In a sandbox it skips permission prompts, also as root.
      IS_SANDBOX: '1',
    },
    asking: (prompt) => ['--print', prompt, ...more],
    resuming: (prompt) => ['--continue', '--print', prompt, ...more],
  };
};

describeAgent(CLAUDE, (open) => {
  const agent = open(STEPS, setUp);
  itLivesLong(agent);
  itFailsOver(agent);
  itStays(agent, 'messages');
  itEndsOverSandbox(agent, 'Say hello.', /sandbox writer/);
});
