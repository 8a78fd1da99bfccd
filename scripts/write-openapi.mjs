// Writes openapi.json from the code; with --check it only compares and fails when the file is stale.
// Run with `node --import ./scripts/typescript.mjs`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { openapiDocument } from '../apps/api/src/openapi/openapi-document.ts';

const FILE = 'openapi.json';
const options = { ...(await resolveConfig(FILE)), parser: 'json' };
const wanted = await format(JSON.stringify(openapiDocument()), options);

if (existsSync(FILE) && readFileSync(FILE, 'utf8') === wanted) process.exit(0);
if (process.argv.includes('--check')) {
  console.error(`${FILE} is stale: run npm run openapi.`);
  process.exitCode = 1;
} else {
  writeFileSync(FILE, wanted);
  console.log(`${FILE} was written.`);
}
