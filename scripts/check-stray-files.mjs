// Fails on files that hardly belong into the repository: profiles, logs, dumps, editors' leftovers, and anything at the
// root that is not in the list below. Looks at what git tracks and at what it would add.
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';

const STRAY = [
  /(^|\/)(isolate-.*|core(\.\d+)?|nohup\.out|Thumbs\.db|\.DS_Store)$/,
  /\.(log|cpuprofile|heapprofile|heapsnapshot|orig|rej|tmp|bak|swp|pem|sqlite|dump)$/,
  /(^|\/)\.env$/,
];

/** Everything that may stand at the root. A new tool's file is added here on purpose. */
const ROOT_FILES = new Set([
  '.dependency-cruiser.cjs',
  '.dockerignore',
  '.env.example',
  '.gitignore',
  '.npmrc',
  '.oxlintrc.json',
  '.prettierignore',
  '.prettierrc.json',
  '.swcrc',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'Dockerfile',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'audit-exceptions.json',
  'docker-compose.yml',
  'jest.config.mjs',
  'knip.json',
  'nest-cli.json',
  'openapi.json',
  'package-lock.json',
  'package.json',
  'prisma.config.ts',
  'tsconfig.json',
]);
const LARGEST_BYTES = 1_048_576;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '' && statSync(file, { throwIfNoEntry: false }));

const complaints = files.flatMap((file) => {
  if (STRAY.some((pattern) => pattern.test(file))) return [`${file}: a kind of file that is never committed`];
  if (!file.includes('/') && !ROOT_FILES.has(file))
    return [`${file}: not a known file of the root; if it belongs there, name it in scripts/check-stray-files.mjs`];
  if (statSync(file).size > LARGEST_BYTES) return [`${file}: larger than ${LARGEST_BYTES} bytes`];
  return [];
});
for (const complaint of complaints) console.error(complaint);
if (complaints.length > 0) process.exitCode = 1;
