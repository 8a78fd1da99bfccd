// Writes the tables in docs/text-translation.md from the code; with --check it only compares and fails when it is stale.
// Run with `node --import ./scripts/typescript.mjs`.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { renderTranslations, TRANSLATED_FEATURES } from '../libs/features/src/text/testing/translations.ts';
import { renderKnownTraits, renderTraits } from '../libs/providers/src/text/testing/render-traits.ts';

const FILE = 'docs/text-translation.md';
const TABLES = {
  translations: renderTranslations(TRANSLATED_FEATURES),
  traits: renderTraits(),
  'known traits': renderKnownTraits(),
};

const current = readFileSync(FILE, 'utf8');
let page = current;
for (const [name, table] of Object.entries(TABLES)) {
  const place = new RegExp(`(<!-- ${name} -->\n).*(<!-- /${name} -->)`, 's');
  if (!place.test(page)) throw new Error(`${FILE} has no place for the table of ${name}.`);
  page = page.replace(place, (_all, begin, end) => `${begin}\n${table}\n\n${end}`);
}
const wanted = await format(page, { ...(await resolveConfig(FILE)), parser: 'markdown' });

if (current === wanted) process.exit(0);
if (process.argv.includes('--check')) {
  console.error(`${FILE} is stale: run npm run translation-docs.`);
  process.exitCode = 1;
} else {
  writeFileSync(FILE, wanted);
  console.log(`${FILE} was written.`);
}
