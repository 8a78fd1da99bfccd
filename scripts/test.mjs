// Runs the tests, after building what they start:
//   npm test                     what proves the product to a person who changes it
//   npm test -- PATH [-t NAME]   these files, wherever they are
//   npm run test:all             these and what waits for machines, processes and outages
//   npm run test:long            the latter alone
//   npm run test:changed         what a change that is not committed can reach inside its library or app
// Other options are those of Jest.
import { execFileSync, spawn } from 'node:child_process';
import { LONG_FOLDERS } from '../jest.config.mjs';

const MODES = {
  all: ['--config', 'jest.all.config.mjs'],
  long: ['--config', 'jest.all.config.mjs', ...LONG_FOLDERS.map((folder) => `${folder}/`)],
  changed: ['--config', 'jest.config.mjs', '--onlyChanged', '--passWithNoTests'],
};
/** Options whose next word is their value, not a path. */
const WITH_VALUE = new Set([
  '-t',
  '--testNamePattern',
  '--outputFile',
  '--maxWorkers',
  '-w',
  '--testPathIgnorePatterns',
]);

const KNOWN_V8_OPTIONS = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });

/**
 * Options of V8: collect once a heap holds so many per cent more than the last collection left, in the thread that needs it; and
 * optimize only what runs long, since most code of a test runs a few times. Node refuses to start with one that its V8 does not
 * have, as Node 24 lacks the last.
 */
const V8_OPTIONS = ['--heap-growing-percent=40', '--single-threaded-gc', '--interrupt-budget=1000000'].filter(
  (option) => KNOWN_V8_OPTIONS.includes(` ${option.split('=')[0]} `),
);

const [first, ...rest] = process.argv.slice(2);
const mode = MODES[first];
const options = mode ? rest : process.argv.slice(2);
const namesFiles = options.some((option, place) => !option.startsWith('-') && !WITH_VALUE.has(options[place - 1]));
const chosen = mode ?? (namesFiles ? MODES.all : ['--config', 'jest.config.mjs']);

execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
// V8 lets a heap grow to gigabytes before it collects, in each thread, where the machine has them.
const jest = spawn(process.execPath, [...V8_OPTIONS, 'node_modules/jest/bin/jest.js', ...chosen, ...options], {
  stdio: 'inherit',
  env: {
    ...process.env,
    NODE_OPTIONS: '--import ./scripts/typescript.mjs --no-warnings --max-old-space-size=1024',
    MALLOC_ARENA_MAX: '2',
  },
});
// npm passes signals on to this process alone.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => jest.kill(signal));
jest.on('exit', (status, signal) => {
  if (signal) process.removeAllListeners(signal);
  if (signal) process.kill(process.pid, signal);
  process.exitCode = status ?? 1;
});
