// Proves that an upstream of UPSTREAMS_FILE works: `npm run smoke -- --upstream ID [--model MODEL] [--spend AMOUNT] [--record] [--dry-run]
// [--traits]`. Orders and asks nothing that costs without --spend. Ends with 0: works, 1: does not, 2: configuration.
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import 'reflect-metadata';
import { loadEnvironmentFile } from '#platform';
import { runSmoke, runTextSmoke } from '#providers';

const FOLDER = 'smoke-records';
const report = {
  say: (line) => console.log(line),
  record: (name, exchange) => {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(`${FOLDER}/${name}.json`, `${JSON.stringify(exchange, null, 2)}\n`);
  },
};

try {
  loadEnvironmentFile();
  const { values } = parseArgs({
    options: {
      upstream: { type: 'string' },
      model: { type: 'string' },
      spend: { type: 'string' },
      record: { type: 'boolean' },
      'dry-run': { type: 'boolean' },
      traits: { type: 'boolean' },
    },
  });
  const { upstream, 'dry-run': dryRun, ...others } = values;
  const file = process.env.UPSTREAMS_FILE;
  if (!file)
    throw new Error(
      'Set UPSTREAMS_FILE to the file that has the upstream: UPSTREAMS_FILE=upstreams.yaml npm run smoke -- --upstream ID',
    );
  if (!upstream) throw new Error(`Name the upstream by its id in ${file}: --upstream ID`);
  const asked = { ...others, upstream, file, dryRun };
  process.exitCode = (await runTextSmoke(asked, report)) ?? (await runSmoke(asked, report));
} catch (error) {
  console.error(error.message);
  process.exitCode = 2;
}
