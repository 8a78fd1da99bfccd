import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import '#features';
import { configClasses, variablesOf } from '#platform';
import '#providers';
import { parseAllDocuments } from 'yaml';

const require = createRequire(import.meta.url);

interface Container {
  readonly name: string;
  readonly args: string[];
  readonly securityContext: object;
  readonly envFrom: { secretRef?: { name: string } }[];
  readonly volumeMounts?: { readonly name: string; readonly mountPath: string }[];
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Record<string, string> };
  readonly data?: Record<string, string>;
  readonly spec?: {
    readonly template?: {
      readonly metadata: { readonly annotations?: Record<string, string> };
      readonly spec: { readonly containers: Container[]; readonly terminationGracePeriodSeconds: number };
    };
    readonly replicas?: number;
    readonly groups?: readonly { readonly rules: readonly { readonly alert: string }[] }[];
    readonly podMetricsEndpoints?: readonly { readonly relabelings: readonly { readonly targetLabel: string }[] }[];
    readonly triggers?: readonly { readonly metadata: Record<string, string> }[];
    readonly scaleTargetRef?: { readonly name: string };
    readonly selector?: { readonly matchLabels: object };
  };
}

const text = (path: string): string => readFileSync(path, 'utf8');

/** Comes with the price file. */
const VARIABLES = new Set(configClasses().flatMap((kind) => [...variablesOf(kind).keys()]));
const PROCESSES = [...text('deploy/entrypoint.mjs').matchAll(/^ {2}'?([\w-]+)'?: '\.\.\//gm)].map(([, name]) => name);

/** Kinds that an operator or KEDA brings; Kubernetes itself has no schema for them. */
const isForeign = ({ apiVersion }: Manifest): boolean => /^(keda\.sh|monitoring\.coreos\.com)\//.test(apiVersion);

const read = (file: string): Manifest[] =>
  parseAllDocuments(text(`deploy/helm/rendered/${file}`))
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest): manifest is Manifest => manifest !== null);

const RENDERED = ['gateway.yaml', 'everything.yaml'];

describe.each(RENDERED)('The Helm chart, as rendered to %s', (file) => {
  const manifests = read(file);
  const pods = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
  const environment = manifests.find(({ metadata }) => metadata.name === 'gateway-env')?.data ?? {};

  it('is rendered from the current templates, values and alerts; if not, deploy/helm/render.sh writes it again', () => {
    const inside = (folder: string): string[] =>
      readdirSync(`deploy/helm/${folder}`)
        .sort()
        .map((name) => `${folder}/${name}`);
    const files = ['Chart.yaml', 'values.yaml', ...inside('files'), ...inside('templates'), 'everything.values.yaml'];
    const hash = createHash('sha256').update(files.map((name) => text(`deploy/helm/${name}`)).join(''));
    // Otherwise: run deploy/helm/render.sh, which needs helm.
    expect(text(`deploy/helm/rendered/${file}`).split('\n', 1)[0]).toContain(hash.digest('hex'));
  });

  it('renders manifests that are valid by the schemas of Kubernetes', () => {
    const checked = manifests.filter((manifest) => !isForeign(manifest));
    expect(checked.length).toBeGreaterThan(12);
    for (const manifest of checked) {
      const kinds = require(`kubernetes-models/${manifest.apiVersion}`) as Record<
        string,
        new (data: object) => { validate(): void }
      >;
      const Kind = kinds[manifest.kind];
      if (!Kind) throw new Error(`Kubernetes has no ${manifest.apiVersion} ${manifest.kind}`);
      expect(() => new Kind(manifest).validate()).not.toThrow();
    }
  });

  it('runs every process unprivileged, with secrets by reference only', () => {
    for (const { spec } of pods) {
      const [container] = spec?.template?.spec.containers ?? [];
      expect(PROCESSES).toContain(container?.args[0]);
      expect(container?.securityContext).toMatchObject({
        runAsNonRoot: true,
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      });
      expect(container?.envFrom.some(({ secretRef }) => secretRef !== undefined)).toBe(true);
    }
    const deployments = pods.filter(({ kind }) => kind === 'Deployment');
    for (const { spec } of deployments) {
      expect(spec?.template?.spec.containers[0]).toMatchObject({
        readinessProbe: { httpGet: { path: '/readyz' } },
        livenessProbe: { httpGet: { path: '/healthz' } },
      });
    }
    const secret = (name: string): boolean => /PASSWORD|PEPPER|TOKEN|SECRET|DATABASE_URL|REDIS_URL|API_KEY/.test(name);
    expect(Object.keys(environment).filter(secret)).toEqual([]);
  });

  it('gives pods more time to stop than the process needs at most', () => {
    const seconds = Number(environment['DRAIN_SECONDS']) + Number(environment['TEXT_DRAIN_SECONDS']);
    const deployments = pods.filter(({ kind }) => kind === 'Deployment');
    for (const { spec } of deployments) {
      expect(spec?.template?.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(seconds + 15);
    }
  });

  it('sets only variables that the gateway knows', () => {
    expect(Object.keys(environment).filter((variable) => !VARIABLES.has(variable))).toEqual([]);
  });

  it('keeps a budget for each deployment, and lets only the ingress and the scraper in', () => {
    const deployments = manifests.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name);
    expect(manifests.filter(({ kind }) => kind === 'PodDisruptionBudget').map(({ metadata }) => metadata.name)).toEqual(
      deployments,
    );
    expect(manifests.filter(({ kind }) => kind === 'NetworkPolicy')).toHaveLength(2);
  });

  it('leaves the number of replicas to the autoscaler, and sets it for the rest', () => {
    const scaled = manifests.flatMap(({ spec }) => spec?.scaleTargetRef?.name ?? []);
    const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
    expect(deployments).toHaveLength(4);
    for (const { metadata, spec } of deployments)
      expect([metadata.name, spec?.replicas !== undefined]).toEqual([metadata.name, !scaled.includes(metadata.name)]);
  });

  it('restarts pods when their start-up configuration changes', () => {
    for (const { spec } of pods.filter(({ kind }) => kind === 'Deployment'))
      expect(spec?.template?.metadata.annotations).toMatchObject({
        'checksum/config': expect.stringMatching(/^\w{64}$/) as string,
      });
  });
});

describe('The Helm chart', () => {
  const [plain = [], everything = []] = RENDERED.map(read);
  const find = (manifests: readonly Manifest[], kind: string): Manifest[] =>
    manifests.filter((manifest) => manifest.kind === kind);

  it('has the resources of the Prometheus operator: every alert, and the labels that alerts and KEDA use', () => {
    const alerts = [...text('deploy/prometheus/alerts.yml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    const [rule] = find(plain, 'PrometheusRule');
    expect(rule?.spec?.groups?.flatMap(({ rules }) => rules.map(({ alert }) => alert))).toEqual(alerts);
    expect(JSON.stringify(rule)).toContain('https://runbooks.example.com/alerts.md#roledown');
    const [monitor] = find(plain, 'PodMonitor');
    const labels = monitor?.spec?.podMetricsEndpoints?.[0]?.relabelings.map(({ targetLabel }) => targetLabel);
    expect(labels).toEqual(['job', 'role']);
    const triggers = find(plain, 'ScaledObject').flatMap(({ spec }) => spec?.triggers ?? []);
    expect(triggers.map(({ metadata }) => metadata['query'])).toEqual(
      ['image', 'video'].map(
        (medium) => `max(gateway_tasks_due{job="gateway",namespace="default",medium="${medium}"})`,
      ),
    );
    for (const { metadata } of triggers) expect(metadata['serverAddress']).toMatch(/^http:\/\//);
  });

  it('accepts files, variables, volumes and scheduling settings, and works without operator and KEDA', () => {
    const kinds = new Set(everything.filter(isForeign).map(({ kind }) => kind));
    expect([...kinds]).toEqual([]);
    const files = find(everything, 'ConfigMap').find(({ metadata }) => metadata.name === 'gateway-config');
    expect(Object.keys(files?.data ?? {}).sort()).toEqual(['prices.yaml', 'upstreams.yaml']);
    const templates = find(everything, 'Deployment').flatMap(({ spec }) => spec?.template ?? []);
    expect(templates).toHaveLength(4);
    for (const { metadata, spec: pod } of templates) {
      const [container] = pod.containers;
      expect(metadata.annotations).toMatchObject({
        'reloader.stakater.com/auto': 'true',
        'prometheus.io/port': '9464',
      });
      expect(pod).toMatchObject({
        imagePullSecrets: [{ name: 'registry' }],
        serviceAccountName: 'gateway',
        priorityClassName: 'important',
        nodeSelector: { 'kubernetes.io/arch': 'amd64' },
        tolerations: [{ key: 'dedicated' }],
        affinity: { nodeAffinity: expect.anything() as object },
        containers: [{ env: [{ name: 'BODY_LIMIT_MB', value: '128' }] }],
      });
      expect(container?.envFrom).toContainEqual({ secretRef: { name: 'vendor-keys' } });
      const mounts = container?.volumeMounts?.map(({ mountPath }) => mountPath);
      expect(mounts).toEqual(['/tmp', '/data', '/app/config', '/etc/gateway/certificates']);
    }
    expect(find(everything, 'ConfigMap')[0]?.data).toMatchObject({
      TRUSTED_PROXIES: '10.244.0.0/16',
      UPSTREAMS_FILE: 'config/upstreams.yaml',
      PRICES_FILE: 'config/prices.yaml',
    });
  });
});
