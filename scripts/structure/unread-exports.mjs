// Names that a library exports and no other file imports, and exports that are not sorted by file.
// Knip cannot say: it takes each index.ts for an entry, whose exports it leaves alone.
import ts from 'typescript';
import { walk } from './sources.mjs';

/** What stands behind a library's name: the import of the sources, and of what is built from them. */
const LIBRARY_IMPORT = /^(?:#|.*\/libs\/)([\w-]+)(?:\/src\/index\.[jt]s)?$/;
const INDEX = /^libs\/([\w-]+)\/src\/index\.ts$/;

/** @returns one line for each export that breaks a rule. */
export function unreadExports(sources) {
  const imported = namesImported(sources);
  return [...sources].flatMap(([path, source]) => {
    const library = INDEX.exec(path)?.[1];
    return library === undefined ? [] : complaintsAbout(path, source, imported.get(library) ?? new Set());
  });
}

function complaintsAbout(path, source, imported) {
  const statements = source.statements.filter(ts.isExportDeclaration);
  const files = statements.map(({ moduleSpecifier }) => moduleSpecifier.text);
  const unsorted = files.find((file, index) => index > 0 && file < files[index - 1]);
  return [
    ...(unsorted === undefined ? [] : [`${path}: ${unsorted} does not stand in the order of the alphabet`]),
    ...statements.flatMap(({ exportClause, moduleSpecifier }) => {
      if (exportClause === undefined) return [`${path}: name what ${moduleSpecifier.text} exports instead of *`];
      const unread = exportClause.elements.map(({ name }) => name.text).filter((name) => !imported.has(name));
      return unread.map((name) => `${path}: no file outside of the library imports ${name}`);
    }),
  ];
}

/** @returns library -> names imported from outside. */
function namesImported(sources) {
  const imported = new Map();
  for (const [file, source] of sources) {
    walk(source, (node, parents) => {
      const library = LIBRARY_IMPORT.exec(specifierOf(node) ?? '')?.[1];
      if (library === undefined || file.startsWith(`libs/${library}/`)) return;
      if (!imported.has(library)) imported.set(library, new Set());
      for (const name of namesOf(node, parents)) imported.get(library).add(name);
    });
  }
  return imported;
}

/** The module that an import, an export or a dynamic import names. */
function specifierOf(node) {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier?.text;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return node.arguments[0]?.text;
  return undefined;
}

function namesOf(node, parents) {
  if (ts.isImportDeclaration(node)) return namesIn(node.importClause?.namedBindings);
  return ts.isExportDeclaration(node) ? namesIn(node.exportClause) : namesIn(patternAround(parents));
}

/** The pattern that takes names out of `await import('...')`. */
const patternAround = (parents) => parents.findLast((parent) => ts.isVariableDeclaration(parent))?.name;

const namesIn = (list) => list?.elements?.map(({ propertyName, name }) => (propertyName ?? name).text) ?? [];
