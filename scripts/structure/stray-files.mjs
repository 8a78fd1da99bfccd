// Files that hardly belong into the repository: profiles, logs, dumps, editors' leftovers, and anything at the root that
// is not in the list below. Checks what git tracks and what it would add.
import { statSync } from 'node:fs';
import { repositoryFiles } from './sources.mjs';

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
  'AGENTS.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'Dockerfile',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'audit-exceptions.json',
  'docker-compose.yml',
  'jest.agents.config.mjs',
  'jest.all.config.mjs',
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

/** @returns one line for each stray file. */
export const strayFiles = () =>
  repositoryFiles().flatMap((file) => {
    if (STRAY.some((pattern) => pattern.test(file))) return [`${file}: a kind of file that is never committed`];
    if (!file.includes('/') && !ROOT_FILES.has(file))
      return [
        `${file}: not a known file of the root; if it belongs there, name it in scripts/structure/stray-files.mjs`,
      ];
    if (statSync(file).size > LARGEST_BYTES) return [`${file}: larger than ${LARGEST_BYTES} bytes`];
    return [];
  });
