import { spawnSync } from 'node:child_process';
import { loadConfig } from '#platform';
import { TestServicesConfig } from './test-services.js';

/** Debian's own, which its package python3-requests belongs to; another may stand first on PATH. */
const PLACES = ['/usr/bin/python3', 'python3'];

const hasRequests = (python: string): boolean => spawnSync(python, ['-c', 'import requests']).status === 0;

/** A suite that needs Python with `requests`. Without it, it fails when `CI` is set, and is skipped elsewhere. */
export function describeWithPython(name: string, suite: (python: string) => void): void {
  const { CI } = loadConfig(TestServicesConfig);
  const python = PLACES.find(hasRequests);
  if (python !== undefined) return describe(name, () => suite(python));
  if (CI !== 'true' && CI !== '1') return describe.skip(name, () => suite('python3'));
  describe(name, () => {
    it('has a Python with requests to run', () => {
      throw new Error('python3 with requests is missing: install python3-requests. In CI these suites must run.');
    });
  });
}
