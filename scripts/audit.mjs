// Fails when a package that is shipped has a known weakness of moderate or higher severity that audit-exceptions.json
// does not explain, and when an explanation is past its date. A registry that cannot be asked is reported, not failed:
// an outage elsewhere must not stop a fix of ours.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** `{ advisory: URL, reason, until: YYYY-MM-DD }`. */
const exceptions = JSON.parse(readFileSync('audit-exceptions.json', 'utf8'));
const today = new Date().toISOString().slice(0, 10);
const overdue = exceptions.filter(({ until }) => until < today);

const { stdout } = spawnSync('npm', ['audit', '--json', '--omit=dev', '--audit-level=moderate'], { encoding: 'utf8' });
const report = parse(stdout);
if (!report?.vulnerabilities) {
  console.log('The registry could not be asked about known weaknesses; nothing was checked.');
} else {
  const explained = new Set(exceptions.map(({ advisory }) => advisory));
  const found = Object.values(report.vulnerabilities)
    .flatMap(({ via }) => via)
    .filter((advisory) => typeof advisory === 'object' && ['moderate', 'high', 'critical'].includes(advisory.severity))
    .filter(({ url }) => !explained.has(url));
  for (const { name, title, url } of found) console.error(`${name}: ${title} (${url})`);
  if (found.length > 0) process.exitCode = 1;
}
for (const { advisory, until } of overdue) {
  console.error(`The exception for ${advisory} was to be looked at again by ${until}.`);
  process.exitCode = 1;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
