import { MODEL_OVER } from '../tests/harness/text-vendor/text-gateway.js';
import type { SetUp } from './agent.js';
import { describeAgent, itEndsOverSandbox, itLivesLong } from './agent-suite.js';
import { itIsCutOff } from './cut-off.js';
import { itFailsOver, itStays } from './failing-over.js';
import { NOTES, IMAGE } from './run-cli.js';
import { BESIDE, BINARY_OUTPUT, LONG_WORDS, type Step, type Steps } from './scripted-session.js';

const GEMINI = { name: '@google/gemini-cli', version: '0.61.0', command: 'gemini' };

const shell = (command: string): Step => ({ tool: 'run_shell_command', args: { command, description: 'Runs it' } });

const STEPS: Steps = [
  { tool: 'read_file', args: { file_path: NOTES } },
  shell(BINARY_OUTPUT),
  shell(`${LONG_WORDS}; printf 'changed\\n' > ${NOTES}`),
  { tool: 'read_file', args: { file_path: IMAGE } },
  { ...shell('echo one'), beside: shell(`echo ${BESIDE}`) },
  ...[6, 7, 8, 9, 10].map((turn) => shell(`echo turn ${turn}`)),
];

const SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
};

const setUp: SetUp = (upstream, { baseUrl, key }) => {
  const more = ['--yolo', '-m', MODEL_OVER[upstream]];
  return {
    files: { 'home/.gemini/settings.json': JSON.stringify(SETTINGS) },
    environment: { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: baseUrl, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    asking: (prompt) => [...more, '-p', prompt],
    resuming: (prompt) => [...more, '--resume', 'latest', '-p', prompt],
  };
};

describeAgent(GEMINI, (open) => {
  const agent = open(STEPS, setUp);
  itLivesLong(agent);
  itFailsOver(agent);
  itStays(agent, 'gemini');
  itIsCutOff(agent);
  itEndsOverSandbox(agent, 'Use list_directory once.', /list_directory/);
});
