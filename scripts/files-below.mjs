import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** @returns the path of every file below a folder. */
export const filesBelow = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  );
