// Builds apps, libs and the crash tests into dist/, and beside them the console of the browser; regenerates the database
// client first when its schema changed. Builds only what changed. With --for-image only what the image ships.
import '../libs/platform/src/node-version.mjs';
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { buildSources } from './build-sources.mjs';

execFileSync(process.execPath, ['scripts/generate.mjs'], { stdio: 'inherit' });
await Promise.all([buildConsole(), buildSources({ forImage: process.argv.includes('--for-image') })]);

/** In a process of its own, so that both builds have a core. It says itself why it failed. */
async function buildConsole() {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['scripts/build-console.mjs']).catch(
    (failure) => {
      process.exitCode = 1;
      return failure;
    },
  );
  process.stderr.write(stdout + stderr);
}
