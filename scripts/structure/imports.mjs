// What dependency-cruiser finds: cycles, and imports that the layers forbid (.dependency-cruiser.cjs).
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const COMMAND = ['run', '--silent', 'check:imports', '--', '--output-type', 'json'];
const LARGEST_REPORT_BYTES = 256 * 1024 * 1024;
const CYCLE = 'no-circular';

let report;

/** Runs it once for all callers. */
const violations = () => (report ??= cruise());

async function cruise() {
  const { stdout } = await promisify(execFile)('npm', COMMAND, { maxBuffer: LARGEST_REPORT_BYTES }).catch(
    // It exits with the number of errors; then, too, the report is whole.
    (failure) => (failure.stdout ? failure : Promise.reject(failure)),
  );
  return JSON.parse(stdout).summary.violations;
}

/** @returns one line for each cycle of imports. */
export const cycles = async () =>
  (await violations())
    .filter(({ rule }) => rule.name === CYCLE)
    .map(({ from, cycle }) => [from, ...cycle.map(({ name }) => name)].join(' -> '));

/** @returns one line for each import of a layer that its file may not import. */
export const forbiddenImports = async () =>
  (await violations())
    .filter(({ rule }) => rule.name !== CYCLE)
    .map(({ from, to, rule }) => `${from} imports ${to}: ${rule.name}`);
