// Links between documents whose file or heading is not there, and files that documents name but the repository lacks.
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, normalize } from 'node:path';
import { repositoryFiles } from './sources.mjs';

const CODE_BLOCK = /^([ ]*)```.*?^\1```/gms;
const LINK = /\]\(([^()\s]+)\)/g;
const HEADING = /^#+ (.*)$/gm;
/** A path in backticks that begins with one of our folders; those with placeholders are patterns, not paths. */
const NAMED_PATH = /`((?:apps|agents|attacks|bench|chaos|deploy|docs|fuzz|libs|prisma|scripts|tests)\/[\w./@-]+)`/g;
/** The name of a file alone, as in a table whose heading says the folder: a file of that name has to be somewhere. */
const NAMED_FILE = /`(\w[\w.-]*\.(?:ts|tsx|mjs))`/g;
/** The end of a relative import in an example of code: where the example stands is not said, but its file has to be somewhere. */
const IMPORTED = /^ *import .* from '(?:\.\.?\/)+([\w./-]+)\.js';/gm;
/** Pages that say what was true on their day: files that they name may be gone. */
const HISTORY = /^docs\/changelog-history\.md$/;

const exists = (path) => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** @returns the anchor that Markdown viewers make of a heading. */
const anchorOf = (heading) =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');

/** @returns `path:line: what it leads to` of each. */
export function deadLinks() {
  const pages = repositoryFiles('*.md').map((file) => [file, readFileSync(file, 'utf8')]);
  const texts = new Map(pages.map(([file, text]) => [file, withoutCode(text)]));
  const sources = repositoryFiles('*.ts', '*.tsx');
  const names = new Set(repositoryFiles('*.ts', '*.tsx', '*.mjs').map((path) => basename(path)));
  const anchors = new Map(
    [...texts].map(([file, text]) => [file, new Set([...text.matchAll(HEADING)].map(([, words]) => anchorOf(words)))]),
  );
  const isDead = (file, link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path, anchor] = link.split('#');
    const target = path === '' ? file : normalize(`${dirname(file)}/${path}`);
    return !exists(target) || (anchor !== undefined && anchors.get(target)?.has(anchor) === false);
  };
  return [
    ...[...texts].flatMap(([file, text]) => [
      ...places(file, text, LINK, (link) => isDead(file, link)),
      ...(HISTORY.test(file) ? [] : places(file, text, NAMED_PATH, (path) => !exists(path))),
      ...(HISTORY.test(file) ? [] : places(file, text, NAMED_FILE, (name) => !names.has(name))),
    ]),
    ...pages.flatMap(([file, text]) =>
      places(file, text, IMPORTED, (path) => !sources.some((source) => source.endsWith(`/${path}.ts`))),
    ),
  ];
}

/** Blanks code blocks, so that the lines keep their numbers. */
const withoutCode = (text) => text.replace(CODE_BLOCK, (block) => block.replace(/[^\n]/g, ''));

const places = (file, text, pattern, isWrong) =>
  [...text.matchAll(pattern)]
    .filter(([, found]) => isWrong(found))
    .map(({ 1: found, index }) => `${file}:${text.slice(0, index).split('\n').length}: ${found}`);
