// What is counted in the syntax trees of our sources.
import ts from 'typescript';
import { REAL_TIME } from './real-time.mjs';
import { placeOf, walk } from './sources.mjs';

const SPEC = /\.spec\.ts$/;
const TEST_CODE =
  /\.spec\.ts$|\/testing\/|^libs\/testing\/|^apps\/console\/test\/|^(agents|attacks|bench|chaos|fuzz|scripts|tests)\//;
/** Where routes and their descriptions stand. */
const ROUTES = /^apps\/[\w-]+\/src\/routes\/|\.openapi\.ts$/;
/** What puts answers into the envelope. */
const ENVELOPE = /\/http\/envelope[\w.-]*\.ts$/;
/** A path that clients send, and an expression that tells such paths apart. */
const PATH = /^\/(v\d+(beta)?|admin|ops)(\/|$)/;
const PATH_EXPRESSION = /\\\/\(?(v1|v1beta|admin|ops)\b/;

/** @returns the places, outside of the files that `leaveOut` fits, of nodes that `isOne` is true for. */
function places(sources, leaveOut, isOne) {
  const found = [];
  for (const [file, source] of sources) {
    if (leaveOut.test(file)) continue;
    walk(source, (node, parents) => {
      if (isOne(node, parents)) found.push(placeOf(source, node));
    });
  }
  return found;
}

export const anyTypes = (sources) => places(sources, /\.mjs$/, (node) => node.kind === ts.SyntaxKind.AnyKeyword);

export const factories = (sources) =>
  places(sources, TEST_CODE, (node) => ts.isPropertyAssignment(node) && node.name.text === 'useFactory');

export const envelopesByHand = (sources) =>
  places(
    sources,
    new RegExp(`${TEST_CODE.source}|${ENVELOPE.source}`),
    (node) => ts.isPropertyAssignment(node) && node.name.text === 'code' && node.initializer.text === '200',
  );

export const pathTables = (sources) =>
  places(
    sources,
    new RegExp(`${TEST_CODE.source}|${ROUTES.source}`),
    (node) =>
      (ts.isRegularExpressionLiteral(node) && PATH_EXPRESSION.test(node.text)) ||
      (ts.isArrayLiteralExpression(node) && holdsPaths(node.elements)) ||
      (ts.isObjectLiteralExpression(node) && holdsPaths(node.properties.map(({ name }) => name))),
  );

const holdsPaths = (nodes) => nodes.filter((node) => PATH.test(node?.text ?? node?.head?.text ?? '')).length > 1;

/** Waits of specs and chaos for a time instead of a condition, and exceptions that no longer fit. */
export function fixedSleeps(sources) {
  const found = [...sources].flatMap(([file, source]) => {
    if (!SPEC.test(file) && !file.startsWith('chaos/')) return [];
    const sleeps = sleepsIn(source);
    const allowed = REAL_TIME[file]?.count ?? 0;
    if (sleeps.length > allowed) return sleeps.slice(allowed);
    return sleeps.length === allowed
      ? []
      : [`${file}: structure/real-time.mjs allows ${allowed} waits, ${sleeps.length} are left`];
  });
  return [...found, ...Object.keys(REAL_TIME).filter((file) => !sources.has(file))];
}

function sleepsIn(source) {
  const names = new Set(['setTimeout', ...timersImported(source)]);
  const found = [];
  walk(source, (node) => {
    if (ts.isCallExpression(node) && names.has(node.expression.text)) found.push(placeOf(source, node));
  });
  return found;
}

/** By what name a file calls the timer that answers with a promise. */
const timersImported = (source) =>
  source.statements
    .filter((node) => ts.isImportDeclaration(node) && node.moduleSpecifier.text === 'node:timers/promises')
    .flatMap((node) => node.importClause.namedBindings.elements)
    .filter(({ propertyName, name }) => (propertyName ?? name).text === 'setTimeout')
    .map(({ name }) => name.text);
