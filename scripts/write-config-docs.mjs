// Writes .env.example and the table in docs/configuration.md from the config classes; with --check it only
// compares, prints what is stale and fails. Run with `node --import ./scripts/typescript.mjs`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import '#features';
import { configClasses } from '#platform';
import '#providers';
import {
  renderConfigTable,
  renderEnvironmentExample,
  replaceConfigTable,
} from '../libs/platform/src/config/testing/config-docs.ts';

const onlyCheck = process.argv.includes('--check');
const classes = configClasses();
/** @type {[file: string, render: (text: string) => string][]} */
const documents = [
  ['.env.example', () => renderEnvironmentExample(classes)],
  ['docs/configuration.md', (text) => replaceConfigTable(text, renderConfigTable(classes))],
];

for (const [file, render] of documents) {
  const current = existsSync(file) ? readFileSync(file, 'utf8') : '';
  try {
    const wanted = render(current);
    if (current === wanted) continue;
    if (!onlyCheck) writeFileSync(file, wanted);
    console.log(onlyCheck ? `${file} is stale: run npm run config-docs.` : `${file} was written.`);
    if (onlyCheck) process.exitCode = 1;
  } catch (error) {
    console.error(`${file}: ${error.message}`);
    process.exitCode = 1;
  }
}
