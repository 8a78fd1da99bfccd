import { readFileSync } from 'node:fs';
import { fleetSources } from '#features';
import { eventually } from '#testing';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { startTestGateway, TEST_KEY, type TestGateway } from '../harness/test-gateway.js';

interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

interface Dashboard {
  readonly panels: { readonly title: string; readonly targets?: { readonly expr: string }[] }[];
}

/** Written by Prometheus itself, not by us. */
const OF_PROMETHEUS = new Set(['up']);
/** Metrics of other processes of an installation: the exporters beside Postgres and Redis. */
const OF_EXPORTERS = /^(redis|pg)_/;
/** Have no sample until something fails, or an upstream has costs or an allowance; here is neither. */
const SILENT_WHEN_WELL = new Set([
  'gateway_metrics_source_failures_total',
  'gateway_media_price_below_cost',
  'gateway_price_below_cost',
  'gateway_sold_at_a_loss',
  'gateway_media_cost_worth_micros_total',
  'gateway_media_charged_micros_total',
  'gateway_media_quota_exceeded_total',
]);
/** More values than there are models would mean that a label takes whatever a request brings. */
const MOST_VALUES = 100;
/** Labels that Prometheus adds when it scrapes. */
const SCRAPE_LABELS = new Set(['job', 'instance', 'role', 'le']);

const rulesOf = (file: string): AlertRule[] =>
  (parse(readFileSync(`deploy/prometheus/${file}`, 'utf8')) as { groups: { rules: AlertRule[] }[] }).groups.flatMap(
    ({ rules }) => rules,
  );
const ALERTS = ['alerts.yml', 'alerts-services.yml'].flatMap(rulesOf);
const DASHBOARD = JSON.parse(readFileSync('deploy/grafana/dashboards/gateway.json', 'utf8')) as Dashboard;

const QUERIES = [
  ...ALERTS.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
  ...DASHBOARD.panels.flatMap(({ title, targets }) =>
    (targets ?? []).map(({ expr }) => [`panel ${title}`, expr.replaceAll('$__rate_interval', '5m')] as const),
  ),
];

/** Metric names and label names of a query; throws where it is no PromQL. */
function namesIn(query: string): { metrics: string[]; labels: string[] } {
  const metrics: string[] = [];
  const labels: string[] = [];
  parser.parse(query).iterate({
    enter: ({ type, from, to }) => {
      const written = query.slice(from, to);
      if (type.isError) throw new Error(`no PromQL at ${from}: ${query}`);
      if (type.name === 'Identifier') metrics.push(written);
      if (type.name === 'LabelName') labels.push(written);
    },
  });
  return { metrics, labels };
}

describe('Dashboard and alerts', () => {
  let gateway: TestGateway;
  let page: string;

  beforeAll(async () => {
    gateway = await startTestGateway();
    gateway.platform.metrics.add(...fleetSources(gateway.database));
    await mixedLoad(gateway);
    // What has ended may be counted a moment after it can be seen. What never comes is named by the tests.
    await eventually(
      async () => {
        page = await (await fetch(`${gateway.baseUrl}/metrics`)).text();
        return QUERIES.every(([, query]) => missingOf(namesIn(query).metrics).length === 0);
      },
      { pauseMs: 100 },
    ).catch(() => undefined);
  });
  afterAll(() => gateway.stop());

  const samplesOf = (metric: string): string[] =>
    page.split('\n').filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
  /** Those of our metrics that have no sample, though they should. */
  const missingOf = (metrics: readonly string[]): string[] =>
    metrics
      .filter((metric) => !OF_PROMETHEUS.has(metric) && !OF_EXPORTERS.test(metric))
      .filter((metric) =>
        SILENT_WHEN_WELL.has(metric) ? !page.includes(`# TYPE ${metric} `) : samplesOf(metric).length === 0,
      );

  it.each(QUERIES)('%s asks for series that a mixed load leaves on /metrics: %s', (_place, query) => {
    const { metrics, labels } = namesIn(query);
    expect(metrics.length).toBeGreaterThan(0);
    expect(missingOf(metrics)).toEqual([]);
    const shown = metrics.flatMap(samplesOf);
    const expected = labels.filter((name) => !SCRAPE_LABELS.has(name) && shown.length > 0);
    expect(expected.filter((label) => !shown.some((line) => line.includes(`${label}="`)))).toEqual([]);
  });

  it('link each alert to its section, which explains the meaning, the diagnosis and the fix', () => {
    expect(ALERTS.length).toBeGreaterThan(15);
    const sections = new Map(
      readFileSync('docs/operations/alerts.md', 'utf8')
        .split(/^### /m)
        .slice(1)
        .map((section) => [section.slice(0, section.indexOf('\n')), section]),
    );
    expect([...sections.keys()].sort()).toEqual([...new Set(ALERTS.map(({ alert }) => alert))].sort());
    for (const { alert, expr, annotations } of ALERTS) {
      // Absolute wherever it is read: Prometheus puts the address of the pages in front.
      expect(annotations.runbook_url).toBe(`{{ $externalLabels.runbooks }}/alerts.md#${alert.toLowerCase()}`);
      const section = sections.get(alert) ?? '';
      // One section may be for several rules of one name.
      const shown = ALERTS.filter((rule) => rule.alert === alert).some((rule) => section.includes(rule.expr));
      expect([alert, expr, shown]).toEqual([alert, expr, true]);
      expect(section).toMatch(/\*\*What it means\.\*\* [^]*\*\*Where to look\.\*\*\n[^]*\*\*What to do\.\*\*\n/);
    }
  });

  it('keep to closed lists: no identifier of a task, request or account becomes a label', () => {
    expect(page).not.toMatch(/task_[0-9A-Z]{26}|req_|acct_|sk-/);
    // By label and not in all: files of tests that ran before in this process leave series too.
    const values = new Map<string, Set<string>>();
    for (const [, name = '', value = ''] of page.matchAll(/[{,](\w+)="([^"]*)"/g))
      values.set(name, (values.get(name) ?? new Set()).add(value));
    // There are more routes than models, but they are known.
    for (const [, path] of gateway.routes()) values.get('route')?.delete(path);
    expect([...values].filter(([, seen]) => seen.size > MOST_VALUES)).toEqual([]);
  });
});

/** Some of everything: images, a video, a refusal by the vendor, one by us, text in three styles, polls and reads. */
async function mixedLoad(gateway: TestGateway): Promise<void> {
  const image = { model: 'eta-image-2.0', prompt: 'a lighthouse' };
  const video = { model: 'beta-2.5-preview', prompt: 'waves', resolution: '480p', size: '16:9', duration: 5 };
  const taskIds = await Promise.all([
    gateway.submit('/v1/images/generations', image),
    gateway.submit('/v1/images/generations', { ...image, prompt: '[sandbox:fail=content_policy]' }),
    gateway.submit('/v1/videos/generations', video),
  ]);
  const say = 'Say hello.';
  const version = { 'x-api-key': TEST_KEY, 'vendor-version': '2023-06-01' };
  const message = { model: 'vendor-haiku-4-5-20251001', max_tokens: 16, messages: [{ role: 'user', content: say }] };
  await Promise.all([
    gateway.send('POST', '/v1/images/generations', { ...image, n: 99 }),
    gateway.send('POST', '/v1/responses', { model: 'vendor-5', input: say }),
    gateway.send('POST', '/v1/messages', message, version),
    gateway.send('POST', '/v1beta/models/vendor-2.5-flash:generateContent', {
      contents: [{ role: 'user', parts: [{ text: say }] }],
    }),
    gateway.send('GET', '/v1/models'),
    gateway.send('GET', '/v1/user/balance'),
  ]);
  await Promise.all(taskIds.map((taskId) => gateway.waitForTask(taskId)));
}
