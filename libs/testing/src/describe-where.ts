import { loadConfig } from '#platform';
import { TestServicesConfig } from './test-services.js';

export interface Needed<What> {
  /** Undefined when the machine does not have it. */
  readonly found: What | undefined;
  /** What a skipped suite is declared with; nothing of it runs. */
  readonly instead: What;
  /** The title of the test that fails in CI, and what it says. */
  readonly title: string;
  readonly missing: string;
}

/** A suite that needs something of its machine. Without it, it fails when `CI` is set, and is skipped elsewhere. */
export function describeWhere<What>(
  name: string,
  { found, instead, title, missing }: Needed<What>,
  suite: (what: What) => void,
): void {
  const { CI } = loadConfig(TestServicesConfig);
  if (found !== undefined) return describe(name, () => suite(found));
  // The end of the run names what was skipped, with the reason.
  if (CI !== 'true' && CI !== '1') return describe.skip(`${name} (${missing})`, () => suite(instead));
  describe(name, () => {
    it(title, () => {
      throw new Error(`${missing} In CI these suites must run.`);
    });
  });
}
