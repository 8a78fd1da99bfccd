// How many files of code an addition touches, measured on the members that are there: every file that names a member is one that
// had to be opened for it. Of all members the one in the middle counts. Tests, documents and generated files are left out, a
// vendor's own folder counts as one.
import ts from 'typescript';
import { walk } from './sources.mjs';

const TEST_CODE =
  /\.spec\.ts$|\/testing\/|^libs\/testing\/|^apps\/console\/|^(agents|attacks|bench|chaos|fuzz|scripts|tests)\/|\.mjs$/;
const CATALOG = 'libs/contracts/src/catalog/';
const FAMILY = /^libs\/contracts\/src\/catalog\/(video|image)-families\/[\w.-]+\.ts$/;
const VENDORS = 'libs/providers/src/media/';
const PROTOCOLS = 'libs/providers/src/media/media-protocols.ts';
const LEDGER = 'libs/contracts/src/ledger/ledger.ts';
const CONFIG = /\.config\.ts$/;
const CONTROLLER = /^apps\/api\/src\/(?:routes|operators)\/.*\.controller\.ts$/;

/** @returns file -> the words it names in strings and as names of properties, of our code alone. */
function namesByFile(sources) {
  const named = new Map();
  for (const [file, source] of sources) {
    if (TEST_CODE.test(file)) continue;
    const names = new Set();
    walk(source, (node) => {
      if (ts.isStringLiteralLike(node) || ts.isIdentifier(node)) names.add(node.text);
    });
    named.set(file, names);
  }
  return named;
}

let named;
const namesOf = (sources) => (named ??= namesByFile(sources));
const filesNaming = (sources, name) =>
  [...namesOf(sources)].filter(([, names]) => names.has(name)).map(([file]) => file);

/** The texts of the array that a constant is declared with. */
function listOf(source, constant) {
  let found = [];
  walk(source, (node) => {
    if (!ts.isVariableDeclaration(node) || node.name.text !== constant) return;
    const list = ts.isAsExpression(node.initializer) ? node.initializer.expression : node.initializer;
    found = list.elements.filter(ts.isStringLiteralLike).map(({ text }) => text);
  });
  return found;
}

/** The files of the member in the middle. */
const typical = (members) =>
  members.toSorted((one, other) => one.length - other.length)[Math.floor(members.length / 2)] ?? [];

const inVendorFolder = (file) => file.startsWith(VENDORS) && file.slice(VENDORS.length).includes('/');

const families = (sources) => [...sources].filter(([file]) => FAMILY.test(file) && !TEST_CODE.test(file));

/** Which vendor makes a model is each vendor's own affair, and no part of adding it. */
export const modelFiles = (sources) =>
  typical(
    families(sources)
      .flatMap(([, source]) => listOf(source, 'MODELS'))
      .map((id) => filesNaming(sources, id).filter((file) => file.startsWith('libs/') && !inVendorFolder(file))),
  );

export const familyFiles = (sources) =>
  typical(
    families(sources)
      .filter(([, source]) => listOf(source, 'MODELS').length > 0)
      .map(([file, source]) => {
        const [id] = listOf(source, 'MODELS');
        const module = `./${file.slice(CATALOG.length).replace(/\.ts$/, '.js')}`;
        const ofModel = filesNaming(sources, id).filter((each) => each.startsWith(CATALOG));
        return [...new Set([file, ...filesNaming(sources, module), ...ofModel])];
      }),
  );

export const vendorFiles = (sources) =>
  typical(
    keysOf(sources.get(PROTOCOLS), 'MEDIA_CODECS')
      .filter((protocol) => protocol !== 'gateway')
      .map((protocol) => {
        const files = filesNaming(sources, protocol).filter((file) => /^(libs|apps)\//.test(file));
        const folder = `${VENDORS}${protocol.split('-')[0]}/`;
        return [...files.filter((file) => !file.startsWith(folder)), folder];
      }),
  );

export const routeFiles = (sources) =>
  typical(
    [...sources]
      .filter(([file]) => CONTROLLER.test(file))
      .map(([file, source]) => {
        const controller = source.statements.find((node) => ts.isClassDeclaration(node)).name.text;
        const described = source.statements
          .filter((node) => ts.isImportDeclaration(node) && node.moduleSpecifier.text.endsWith('.openapi.js'))
          .map((node) => `${file}: ${node.moduleSpecifier.text}`);
        return [...new Set([...filesNaming(sources, controller), ...described])];
      }),
  );

/** The statement that enters it, every list of kinds, and the migration that widens the constraint of the database. */
export function ledgerKindFiles(sources) {
  const kinds = keysOf(sources.get(LEDGER), 'LEDGER_KINDS');
  const lists = [...namesOf(sources)].filter(([, names]) => kinds.every((kind) => names.has(kind)));
  return [...lists.map(([file]) => file), 'prisma/migrations/', 'the statement that enters it'];
}

/** Where each variable is declared: its reader takes it from there. */
export const variableFiles = (sources) =>
  typical(
    [...sources]
      .filter(([file]) => CONFIG.test(file) && !TEST_CODE.test(file))
      .flatMap(([, source]) => variablesOf(source))
      .map((variable) => filesNaming(sources, variable).filter((file) => declares(sources.get(file), variable))),
  );

function keysOf(source, constant) {
  let keys = [];
  walk(source, (node) => {
    if (!ts.isVariableDeclaration(node) || node.name.text !== constant) return;
    let value = node.initializer;
    while (!ts.isObjectLiteralExpression(value)) value = value.expression;
    keys = value.properties.map(({ name }) => name.text);
  });
  return keys;
}

const variablesOf = (source) =>
  source.statements
    .filter(ts.isClassDeclaration)
    .flatMap(({ members }) => members)
    .filter((member) => ts.isPropertyDeclaration(member) && /^[A-Z][A-Z0-9_]+$/.test(member.name.text))
    .map((member) => member.name.text);

const declares = (source, variable) => variablesOf(source).includes(variable);
