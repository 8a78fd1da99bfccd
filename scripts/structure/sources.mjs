// The files of the repository, and our sources parsed once for every check of the structure.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import ts from 'typescript';

/** @returns paths that git tracks or would add, and that are there. */
export const repositoryFiles = (...patterns) =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z', ...patterns], {
    encoding: 'utf8',
  })
    .split('\0')
    .filter((file) => file !== '' && statSync(file, { throwIfNoEntry: false }));

/** @returns path -> syntax tree of each of our sources, in TypeScript or JavaScript. */
export const parseSources = () =>
  new Map(repositoryFiles('*.ts', '*.tsx', '*.mjs').map((file) => [file, parse(file, readFileSync(file, 'utf8'))]));

export const parse = (file, text) => ts.createSourceFile(file, text, ts.ScriptTarget.Latest);

/** Calls `visit(node, parents)` for each node of a tree; the nearest parent comes last. */
export function walk(root, visit) {
  const parents = [];
  const enter = (node) => {
    visit(node, parents);
    parents.push(node);
    ts.forEachChild(node, enter);
    parents.pop();
  };
  enter(root);
}

/** @returns `path:line` of a node. */
export const placeOf = (source, node) =>
  `${source.fileName}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`;
