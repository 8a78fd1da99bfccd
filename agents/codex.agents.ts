import { MODEL_OVER } from '../tests/harness/text-vendor/text-gateway.js';
import type { SetUp } from './agent.js';
import { describeAgent, itEndsOverSandbox, itLivesLong } from './agent-suite.js';
import { itIsCutOff } from './cut-off.js';
import { itFailsOver } from './failing-over.js';
import { NOTES, IMAGE } from './run-cli.js';
import { BESIDE, BINARY_OUTPUT, LONG_WORDS, type Step, type Steps } from './scripted-session.js';

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

const settings = (baseUrl: string, model: string): string => `
model = "${model}"
model_provider = "gateway"
[model_providers.gateway]
name = "gateway"
base_url = "${baseUrl}/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"
supports_websockets = false
`;

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
  itIsCutOff(agent, /max_output_tokens/);
  itEndsOverSandbox(agent, 'Use exec_command once.', /exec/);
});
