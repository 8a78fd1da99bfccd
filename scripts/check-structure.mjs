// Measures how the repository is built, prints the table and fails when a row is missed:
//   node scripts/check-structure.mjs [row ...]
// The first column is what there was on the day of the first measurement, 2026-11-22.
import { readFileSync } from 'node:fs';
import { anyTypes, envelopesByHand, factories, fixedSleeps, pathTables } from './structure/code-rows.mjs';
import { deadLinks } from './structure/dead-links.mjs';
import {
  familyFiles,
  ledgerKindFiles,
  modelFiles,
  routeFiles,
  variableFiles,
  vendorFiles,
} from './structure/files-to-touch.mjs';
import { folderPairs, linesOfFiles, lonely, namesExportedTwice, tiny } from './structure/house.mjs';
import { cycles, forbiddenImports } from './structure/imports.mjs';
import { missingTests } from './structure/named-tests.mjs';
import { parseSources } from './structure/sources.mjs';
import { strayFiles } from './structure/stray-files.mjs';
import { unreadExports } from './structure/unread-exports.mjs';
import { foreignSources, retiredWords } from './structure/words.mjs';

let parsed;
const sources = () => (parsed ??= parseSources());

/** @returns the place of each line of a file. */
const linesOf = (file) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((_line, index) => `${file}:${index + 1}`);

/** Each row: its name, how many there were at first and how many there may be, what is counted, and the places where they are. */
const ROWS = [
  { name: 'cycles', was: 0, most: 0, counts: 'cycles of imports', find: cycles },
  { name: 'imports', was: 0, most: 0, counts: 'imports that the layers forbid', find: forbiddenImports },
  {
    name: 'folders',
    was: 20,
    most: 0,
    counts: 'pairs of folders that import each other',
    find: () => folderPairs(sources()),
  },
  {
    name: 'lonely',
    was: 137,
    most: 7,
    counts: 'short files that one neighbour imports',
    find: () => lonely(sources()),
  },
  { name: 'tiny', was: 260, most: 48, counts: 'files under 30 lines', find: () => tiny(sources()) },
  {
    name: 'twice',
    was: 52,
    most: 25,
    counts: 'names that two files export',
    find: () => namesExportedTwice(sources()),
  },
  { name: 'any', was: 0, most: 0, counts: 'uses of any', find: () => anyTypes(sources()) },
  {
    name: 'exports',
    was: 161,
    most: 0,
    counts: 'exports of libraries unread or unsorted',
    find: () => unreadExports(sources()),
  },
  { name: 'model', was: 6, most: 3, counts: 'files of code to touch: a model id', find: () => modelFiles(sources()) },
  {
    name: 'family',
    was: 7,
    most: 3,
    counts: 'files of code to touch: a model family',
    find: () => familyFiles(sources()),
  },
  {
    name: 'vendor',
    was: 12,
    most: 3,
    counts: 'files of code to touch: an async vendor',
    find: () => vendorFiles(sources()),
  },
  { name: 'route', was: 7, most: 3, counts: 'files of code to touch: a route', find: () => routeFiles(sources()) },
  {
    name: 'variable',
    was: 1,
    most: 1,
    counts: 'files of code to touch: a configuration variable',
    find: () => variableFiles(sources()),
  },
  {
    name: 'ledger-kind',
    was: 9,
    most: 3,
    counts: 'files of code to touch: a kind of ledger entry',
    find: () => ledgerKindFiles(sources()),
  },
  { name: 'paths', was: 5, most: 0, counts: 'tables of paths outside the routes', find: () => pathTables(sources()) },
  { name: 'envelopes', was: 43, most: 0, counts: 'envelopes written by hand', find: () => envelopesByHand(sources()) },
  { name: 'factories', was: 42, most: 10, counts: 'factories of providers', find: () => factories(sources()) },
  { name: 'sleeps', was: 18, most: 0, counts: 'fixed sleeps in specs and chaos', find: () => fixedSleeps(sources()) },
  { name: 'readme', was: 185, most: 90, counts: 'lines of README.md', find: () => linesOf('README.md') },
  { name: 'links', was: 0, most: 0, counts: 'dead links and paths in documents', find: deadLinks },
  { name: 'promises', was: 0, most: 0, counts: 'promises of SECURITY.md without their test', find: missingTests },
  { name: 'sources', was: 197, most: 0, counts: 'citations of papers outside the repository', find: foreignSources },
  { name: 'words', was: 0, most: 0, counts: 'retired names and words', find: retiredWords },
  { name: 'stray-files', was: 6, most: 0, counts: 'stray files', find: strayFiles },
];

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !ROWS.some((row) => row.name === name));
if (unknown.length > 0) throw new Error(`no row ${unknown.join(', ')}: ${ROWS.map(({ name }) => name).join(', ')}`);
const rows = await Promise.all(
  ROWS.filter(({ name }) => asked.length === 0 || asked.includes(name)).map(async (row) => ({
    ...row,
    places: await row.find(),
  })),
);

console.log('First  At most  Now');
for (const { places, was, most, counts } of rows)
  console.log(
    `${String(was).padStart(5)}  ${String(most).padStart(7)}  ${String(places.length).padStart(3)}  ${counts}`,
  );
if (asked.length === 0) {
  const lines = linesOfFiles(sources())
    .map((file) => file.lines)
    .sort((one, other) => one - other);
  const sum = lines.reduce((all, one) => all + one, 0);
  console.log(
    `${lines.length} production files, ${sum} lines, median ${lines[lines.length >> 1]}, largest ${lines.at(-1)}`,
  );
}
for (const { places, most, counts } of rows.filter((row) => row.places.length > row.most)) {
  // Whichever of them was added last, the list cannot tell: all are shown.
  console.error(
    `\nToo many ${counts}: ${places.length}. ${most === 0 ? 'None' : `At most ${most}`} of these may stay:`,
  );
  for (const place of places) console.error(`  ${place}`);
  process.exitCode = 1;
}
