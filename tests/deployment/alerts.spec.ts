import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { parse } from 'yaml';

const run = promisify(execFile);
const FOLDER = 'deploy/prometheus';
const FILES = ['alerts', 'alerts-services'];

interface Rule {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface RuleTest {
  readonly alert_rule_test: readonly {
    readonly alertname: string;
    readonly exp_alerts: readonly { readonly exp_labels: Readonly<Record<string, string>> }[];
  }[];
}

const read = (file: string): unknown => parse(readFileSync(`${FOLDER}/${file}`, 'utf8'));

/** `promtool` of the Debian package `prometheus`; CI installs it, and its absence is a failure there. */
async function promtool(...args: string[]): Promise<string> {
  try {
    return (await run('promtool', args, { cwd: FOLDER })).stdout;
  } catch (error) {
    const { code, stdout } = error as { code?: unknown; stdout?: string };
    if (code === 'ENOENT') throw new Error('promtool is missing: apt-get install prometheus', { cause: error });
    throw new Error(stdout, { cause: error });
  }
}

describe('The alerts, checked by promtool', () => {
  it('are rules that Prometheus loads, with its configuration', async () => {
    expect(await promtool('check', 'rules', ...FILES.map((file) => `${file}.yml`))).not.toContain('FAILED');
    expect(await promtool('check', 'config', 'prometheus.yml')).toContain('SUCCESS');
  });

  it.each(FILES)('%s: each fires when it should and is silent when all is well', async (file) => {
    const { groups } = read(`${file}.yml`) as { groups: { rules: Rule[] }[] };
    const { tests } = read(`${file}.test.yml`) as { tests: RuleTest[] };
    const cases = tests.flatMap(({ alert_rule_test: checks }) => checks);
    // The same name may stand for several rules, which differ in the role that they are about.
    const untested = groups
      .flatMap(({ rules }) => rules)
      .filter(({ alert, labels }) => {
        const own = cases.filter(({ alertname }) => alertname === alert);
        const fires = own.some(({ exp_alerts: expected }) =>
          expected.some(({ exp_labels: shown }) => !labels['role'] || shown['role'] === labels['role']),
        );
        return !fires || !own.some(({ exp_alerts: expected }) => expected.length === 0);
      });
    expect(untested.map(({ alert }) => alert)).toEqual([]);
    expect(await promtool('test', 'rules', `${file}.test.yml`)).toContain('SUCCESS');
  });
});
