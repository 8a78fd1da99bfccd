// `npm run dev`: the gateway as the sources have it, started again whenever one of them is saved. Only changed files are
// built. A change of the console alone builds its pages and restarts nothing.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'chokidar';
import { buildSources } from './build-sources.mjs';

/** Editors and `git checkout` write several files for one change. */
const QUIET_MS = 50;
/** How long the process of before may wait for clients that are still connected. */
const STOP_MS = 1_000;

const run = (script) => execFileSync(process.execPath, [script], { stdio: 'inherit' });
/** Neither a test, nor what a build makes itself, nor what an editor keeps beside a file. */
const isSource = (file) =>
  /\.(ts|mts|tsx|js|mjs|css|html|svg|json|sql|prisma)$/.test(file) &&
  !/\.spec\.ts$|\/generated\/|^apps\/console\/test\//.test(file);
const isOfConsole = (file) => file.startsWith('apps/console/');

let gateway;
let quiet;
let isEnding = false;
let turn = Promise.resolve();
const saved = new Set();

run('scripts/build.mjs');
start();
watch(['apps', 'libs', 'prisma'], { ignoreInitial: true }).on('all', (_event, file) => notice(file));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end());

function notice(file) {
  if (!isSource(file)) return;
  saved.add(file);
  clearTimeout(quiet);
  quiet = setTimeout(() => void (turn = turn.then(take)), QUIET_MS);
}

/** One turn after another: what is saved during a restart is in the next one. */
async function take() {
  const files = [...saved];
  saved.clear();
  try {
    if (files.some(isOfConsole)) run('scripts/build-console.mjs');
    if (files.every(isOfConsole)) return;
    if (files.includes('prisma/schema.prisma')) run('scripts/generate.mjs');
    // Where a file is not TypeScript, the process of before goes on.
    await buildSources();
    await stop();
    start();
  } catch (error) {
    console.error(`${error.message}\nNot built: what runs is from before; the next change is tried again.`);
  }
}

/** In a process group of its own, so that Ctrl-C in a terminal reaches it once, through us. */
function start() {
  if (isEnding) return;
  gateway = spawn(process.execPath, ['--enable-source-maps', 'dist/apps/gateway/src/main.js'], {
    stdio: 'inherit',
    detached: true,
  });
}

/** Waits until it is gone with its database, or the next one could not open the data folder. */
async function stop() {
  if (gateway.exitCode !== null || gateway.signalCode !== null) return;
  gateway.kill('SIGTERM');
  const impatience = setTimeout(() => gateway.kill('SIGTERM'), STOP_MS);
  await once(gateway, 'exit');
  clearTimeout(impatience);
}

async function end() {
  isEnding = true;
  await stop();
  process.exit(0);
}
