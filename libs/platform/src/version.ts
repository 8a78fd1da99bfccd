import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MIGRATIONS_FOLDER } from './database/migrations-folder.js';

const PACKAGE = join(dirname(dirname(MIGRATIONS_FOLDER)), 'package.json');

/** The version of this build, as `package.json` says. */
export const VERSION = (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }).version;
