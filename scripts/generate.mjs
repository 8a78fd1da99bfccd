// Generates the Prisma client when prisma/schema.prisma changed. Works offline: the generator needs no engine, and naming
// any existing file as the schema engine keeps the Prisma CLI from downloading one.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const GENERATED = 'libs/platform/src/database/generated';
const stamp = `${GENERATED}/.schema-hash`;
const { version } = JSON.parse(readFileSync('node_modules/prisma/package.json', 'utf8'));
const hash = createHash('sha256').update(readFileSync('prisma/schema.prisma')).update(version).digest('hex');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== hash) {
  execFileSync(process.execPath, ['node_modules/prisma/build/index.js', 'generate', '--no-hints'], {
    // The error shows its output when it fails.
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
  });
  writeFileSync(stamp, hash);
}
