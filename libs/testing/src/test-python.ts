import { spawnSync } from 'node:child_process';
import { describeWhere } from './describe-where.js';

/** Debian's own, which its package python3-requests belongs to; another may stand first on PATH. */
const PLACES = ['/usr/bin/python3', 'python3'];

const hasRequests = (python: string): boolean => spawnSync(python, ['-c', 'import requests']).status === 0;

/** A suite that needs Python with `requests`. Without it, it fails when `CI` is set, and is skipped elsewhere. */
export function describeWithPython(name: string, suite: (python: string) => void): void {
  const needed = {
    found: PLACES.find(hasRequests),
    instead: 'python3',
    title: 'has a Python with requests to run',
    missing: 'python3 with requests is missing: install python3-requests.',
  };
  describeWhere(name, needed, suite);
}
