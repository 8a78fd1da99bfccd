// Writes the table in docs/text-translation.md from the code; with --check it only compares and fails when it is stale.
// Run with `node --import ./scripts/typescript.mjs`.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { renderTranslations, TRANSLATED_FEATURES } from '../libs/features/src/text/translations.ts';

const FILE = 'docs/text-translation.md';
const TABLE = /(<!-- translations -->\n).*(<!-- \/translations -->)/s;

const current = readFileSync(FILE, 'utf8');
if (!TABLE.test(current)) throw new Error(`${FILE} has no place for the table.`);
const page = current.replace(
  TABLE,
  (_all, begin, end) => `${begin}\n${renderTranslations(TRANSLATED_FEATURES)}\n\n${end}`,
);
const wanted = await format(page, { ...(await resolveConfig(FILE)), parser: 'markdown' });

if (current === wanted) process.exit(0);
if (process.argv.includes('--check')) {
  console.error(`${FILE} is stale: run npm run translation-docs.`);
  process.exitCode = 1;
} else {
  writeFileSync(FILE, wanted);
  console.log(`${FILE} was written.`);
}
