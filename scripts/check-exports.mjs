// Fails on names that a library exports and nobody outside of it imports, and on exports that are not sorted by file.
// Knip cannot say: it takes each index.ts for an entry, whose exports it leaves alone.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';

const LIBRARIES = ['contracts', 'features', 'media', 'platform', 'providers', 'runtime', 'sandbox-media', 'testing'];
/** What stands behind a library's name: the import of the sources, and of what is built from them. */
const LIBRARY_IMPORT = /^(?:#|.*\/libs\/)([\w-]+)(?:\/src\/index\.[jt]s)?$/;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.mjs'], {
  encoding: 'utf8',
}).split('\n');
const parse = (file) => ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);

/** Library -> names that somebody outside imports. */
const imported = new Map(LIBRARIES.map((library) => [library, new Set()]));
for (const file of files.filter((name) => name !== '')) collectImports(parse(file), file);

const complaints = LIBRARIES.flatMap((library) => {
  const path = `libs/${library}/src/index.ts`;
  const statements = parse(path).statements.filter(ts.isExportDeclaration);
  const sources = statements.map(({ moduleSpecifier }) => moduleSpecifier.text);
  const unsorted = sources.find((source, index) => index > 0 && source < sources[index - 1]);
  return [
    ...(unsorted === undefined ? [] : [`${path}: ${unsorted} does not stand in the order of the alphabet`]),
    ...statements.flatMap(({ exportClause, moduleSpecifier }) => {
      if (exportClause === undefined) return [`${path}: name what ${moduleSpecifier.text} exports instead of *`];
      const names = exportClause.elements.map(({ name }) => name.text);
      const unread = names.filter((name) => !imported.get(library).has(name));
      return unread.map((name) => `${path}: nobody outside of the library imports ${name}`);
    }),
  ];
});
for (const complaint of complaints) console.error(complaint);
if (complaints.length > 0) process.exitCode = 1;

function collectImports(source, file) {
  const visit = (node) => {
    const specifier = specifierOf(node);
    const library = specifier && LIBRARY_IMPORT.exec(specifier)?.[1];
    if (library && imported.has(library) && !file.startsWith(`libs/${library}/`)) {
      for (const name of namesOf(node)) imported.get(library).add(name);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

/** The module that an import, an export or a dynamic import names. */
function specifierOf(node) {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier?.text;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return node.arguments[0]?.text;
  return undefined;
}

function namesOf(node) {
  if (ts.isImportDeclaration(node)) return namesIn(node.importClause?.namedBindings);
  return ts.isExportDeclaration(node) ? namesIn(node.exportClause) : namesIn(patternOf(node));
}

/** The pattern that takes names out of `await import('...')`. */
function patternOf(node) {
  let declaration = node.parent;
  while (declaration && !ts.isVariableDeclaration(declaration)) declaration = declaration.parent;
  return declaration?.name;
}

function namesIn(list) {
  return list?.elements?.map(nameOf) ?? [];
}

function nameOf({ propertyName, name }) {
  return (propertyName ?? name).text;
}
