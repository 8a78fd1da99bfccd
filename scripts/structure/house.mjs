// How much a reader has to open: sizes of files, files with one reader, and folders that import each other.
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

const PRODUCTION = /^(apps|libs)\/.+\.tsx?$/;
const TEST_CODE = /\.spec\.tsx?$|\/testing\/|^libs\/testing\/|^apps\/console\/test\/|\/generated\/|\.d\.ts$/;
/** A file that only names others, or starts a process. */
const FRAME = /\/(index|main)\.tsx?$|\.module\.ts$|\/vite-env/;

/** What runs in production, without what is generated. */
const production = (sources) => [...sources].filter(([file]) => PRODUCTION.test(file) && !TEST_CODE.test(file));

const linesOf = (source) => source.text.trimEnd().split('\n').length;

const SMALL_LINES = 60;
const TINY_LINES = 30;

/** @returns the production files, each with its lines. */
export const linesOfFiles = (sources) =>
  production(sources).map(([file, source]) => ({ file, lines: linesOf(source) }));

/** @returns files so short that a reader opens them for a line or two; those that only name others are none. */
export const tiny = (sources) =>
  linesOfFiles(sources)
    .filter(({ file, lines }) => lines < TINY_LINES && !FRAME.test(file))
    .map(({ file }) => file);

/** @returns small files that one file of the same folder alone imports: they are mostly a part of it. */
export function lonely(sources) {
  const importers = new Map();
  for (const [file, target] of edges(sources)) importers.set(target, (importers.get(target) ?? new Set()).add(file));
  return production(sources)
    .filter(([file, source]) => {
      const readers = [...(importers.get(file) ?? [])];
      return linesOf(source) < SMALL_LINES && readers.length === 1 && dirname(readers[0]) === dirname(file);
    })
    .map(([file]) => file);
}

/** @returns one line for each pair of folders of a library, or of an app, that import each other. */
export function folderPairs(sources) {
  const between = new Set();
  for (const [file, target] of edges(sources)) {
    const [from, to] = [folderOf(file), folderOf(target)];
    if (from && to && from !== to && packageOf(from) === packageOf(to)) between.add(`${from} ${to}`);
  }
  return [...between]
    .map((edge) => edge.split(' '))
    .filter(([from, to]) => from < to && between.has(`${to} ${from}`))
    .map(([from, to]) => `${from} and ${to}`);
}

/** @returns one line for each name of a value or type that two or more files declare and export. */
export function namesExportedTwice(sources) {
  const files = new Map();
  for (const [file, source] of production(sources)) {
    if (file.startsWith('apps/console/')) continue;
    for (const name of declaredExports(source)) files.set(name, [...(files.get(name) ?? []), file]);
  }
  return [...files].filter(([, where]) => where.length > 1).map(([name, where]) => `${name}: ${where.join(', ')}`);
}

function declaredExports(source) {
  const names = new Set();
  for (const node of source.statements) {
    if (!node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) continue;
    if (ts.isVariableStatement(node)) for (const { name } of node.declarationList.declarations) names.add(name.text);
    else if (node.name) names.add(node.name.text);
  }
  return names;
}

const folderOf = (file) => /^(?:apps|libs)\/[\w-]+\/src\/[\w-]+(?=\/)/.exec(file)?.[0];
const packageOf = (folder) => folder.split('/').slice(0, 2).join('/');

/** @returns [importer, imported] of each relative import between production files. */
export function edges(sources) {
  return production(sources).flatMap(([file, source]) =>
    source.statements
      .filter((node) => (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier)
      .map((node) => node.moduleSpecifier.text)
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => [file, resolve(sources, normalize(join(dirname(file), specifier)))])
      .filter(([, target]) => target),
  );
}

const resolve = (sources, path) =>
  [path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx'), path].find((candidate) => sources.has(candidate));
