// SECURITY.md names the test of each promise. A test that was moved or renamed would leave a promise without proof.
import { readFileSync } from 'node:fs';
import { repositoryFiles } from './sources.mjs';

const PAGE = 'SECURITY.md';
const PROMISES = '## What the gateway promises';
const SPEC = /`([\w./-]+\.spec\.ts)`/g;

/** @returns one line for each promise that names no test, and for each named test that there is none of. */
export function missingTests() {
  const page = readFileSync(PAGE, 'utf8');
  const specs = repositoryFiles().filter((file) => file.endsWith('.spec.ts'));
  const named = [...page.matchAll(SPEC)].map(([, name]) => name);
  const promises = page.slice(page.indexOf(PROMISES)).split('\n## ')[0]?.split('\n- ').slice(1) ?? [];
  if (promises.length === 0) return [`${PAGE}: no promises below "${PROMISES}"`];
  return [
    ...promises
      .filter((promise) => promise.search(SPEC) === -1)
      .map((promise) => `${PAGE}: no test is named for "${promise.slice(0, 60)}"`),
    ...new Set(named.filter((name) => !specs.some((file) => file === name || file.endsWith(`/${name}`)))),
  ];
}
