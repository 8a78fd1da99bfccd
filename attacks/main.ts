// Every hostile case against a started gateway: `npm run attacks`, or `npm run attacks -- redis leave` for one backend and
// the attacks whose names hold a word.
import 'reflect-metadata';
import { configureLog } from '#platform';
import { freePort } from '#testing';
import { type Row, tableOf } from './report.js';
import { ATTACKS, runAttacks } from './run-attacks.js';
import type { Backend } from './target.js';

configureLog({ LOG_LEVEL: 'fatal' });
const [chosen, word = ''] = process.argv.slice(2);
const backends: readonly Backend[] = chosen === 'embedded' || chosen === 'redis' ? [chosen] : ['embedded', 'redis'];
const attacks = ATTACKS.filter(({ name }) => name.includes(word));
const rows: Row[] = [];
for (const backend of backends)
  rows.push(
    ...(await runAttacks(backend, attacks, { scale: 1 }, await freePort(), ({ name, breaches }) =>
      console.log(
        [`${breaches.length === 0 ? 'held  ' : 'BREACH'} ${backend}: ${name}`, ...breaches].join('\n         '),
      ),
    )),
  );
console.log(`\n${tableOf(rows)}`);
const broken = rows.filter(({ breaches }) => breaches.length > 0).length;
console.log(`\n${rows.length} attacks, ${rows.length - broken} held, ${broken} broke something.`);
if (broken > 0) process.exitCode = 1;
process.exit();
