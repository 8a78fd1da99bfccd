// Every hostile case against a started gateway: `npm run attacks`, or `npm run attacks -- redis leave` for one backend and
// the attacks whose names hold a word. `npm run attacks -- all 10` lets every flood flow at once for ten minutes, on each
// backend, and `npm run attacks -- all 2 redis uploads` for two, on one backend and those whose names hold a word.
import 'reflect-metadata';
import { configureLog } from '#platform';
import { type Row, tableOf } from './report.js';
import { FLOODS } from './floods.js';
import { attackAtOnce, attackInTurn, ATTACKS, onGateway } from './run-attacks.js';
import type { Backend } from './target.js';

configureLog({ LOG_LEVEL: 'fatal' });
const [first = '', ...others] = process.argv.slice(2);
const isAtOnce = first === 'all';
const minutes = Number(isAtOnce ? (others.shift() ?? 10) : 0);
const [chosen, word = ''] = isAtOnce ? others : [first, ...others];
const backends: readonly Backend[] = chosen === 'embedded' || chosen === 'redis' ? [chosen] : ['embedded', 'redis'];
const rows: Row[] = [];
for (const backend of backends) rows.push(...(await (isAtOnce ? allAtOnce(backend) : oneByOne(backend))));
console.log(`\n${tableOf(rows)}`);
const broken = rows.filter(({ breaches }) => breaches.length > 0).length;
console.log(`\n${rows.length} attacks, ${rows.length - broken} held, ${broken} broke something.`);
if (broken > 0) process.exitCode = 1;
process.exit();

function allAtOnce(backend: Backend): Promise<Row[]> {
  const floods = FLOODS.filter(({ name }) => name.includes(word));
  const form = { forMs: minutes * 60_000, rest: 5 };
  return onGateway(backend, (scene) => attackAtOnce(scene, floods, form));
}

function oneByOne(backend: Backend): Promise<Row[]> {
  const attacks = ATTACKS.filter(({ name }) => name.includes(word));
  return onGateway(backend, (scene) => attackInTurn(scene, attacks, tell));
}

function tell({ name, backend, breaches }: Row): void {
  const held = `${breaches.length === 0 ? 'held  ' : 'BREACH'} ${backend}: ${name}`;
  console.log([held, ...breaches].join('\n         '));
}
