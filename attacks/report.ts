import type { Latencies } from './victim.js';
import type { Bill, Outcome } from './attack.js';
import type { Memory } from './target.js';

const HEAD = [
  '| attack | queues in | other account p50/p95 before, ms | during | failed | most memory, MiB | kept, MiB | charged | due | breaches |',
  '|---|---|---:|---:|---:|---|---:|---:|---:|---:|',
].join('\n');

const MEBIBYTE = 1_048_576;

/** One attack on one kind of gateway. */
export interface Row extends Outcome {
  readonly name: string;
  readonly backend: string;
  /** The most that each process had meanwhile. */
  readonly memory?: readonly Memory[];
}

/** The table of all attacks, and below it every breach in words. */
export function tableOf(rows: readonly Row[]): string {
  const breaches = rows.flatMap(({ name, backend, breaches: found }) =>
    found.map((breach) => `BREACH ${name} (${backend}): ${breach}`),
  );
  return [HEAD, ...rows.map(lineOf), ...(breaches.length > 0 ? ['', ...breaches] : [])].join('\n');
}

function lineOf({ name, backend, before, during, bill, breaches, memory, keptBytes }: Row): string {
  const failed = during === undefined ? '' : `${during.failed}/${during.requests}`;
  const most = (memory ?? []).map(({ role, bytes }) => `${role} ${Math.round(bytes / MEBIBYTE)}`).join(', ');
  const kept = keptBytes === undefined ? '' : (keptBytes / MEBIBYTE).toFixed(1);
  const times = [timesOf(before), timesOf(during), failed];
  const cells = [name, backend, ...times, most, kept, ...moneyOf(bill), breaches.length];
  return `| ${cells.join(' | ')} |`;
}

const timesOf = (latencies: Latencies | undefined): string =>
  latencies === undefined ? '' : `${latencies.p50Ms.toFixed(0)}/${latencies.p95Ms.toFixed(0)}`;

const moneyOf = (bill: Bill | undefined): [string, string] =>
  bill === undefined ? ['', ''] : [amountOf(bill.chargedMicros), amountOf(bill.dueMicros)];

const amountOf = (micros: bigint): string => (Number(micros) / 1_000_000).toFixed(6);
