import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A client as its maker publishes it. */
export interface AgentPackage {
  readonly name: string;
  readonly version: string;
  readonly command: string;
  /** The script of its package that makes it ready. */
  readonly setUp?: string;
}

/** Not the temporary folder: what is installed once serves every later run. */
const CACHE = resolve('node_modules/.cache/agents');
const INSTALL_LIMIT_MS = 240_000;

/** The path of an installed client, or why it cannot be had. */
type InstalledCli = { readonly path: string } | { readonly missing: string };

/** Installs a client from the package registry into the cache, unless it is there. Of its scripts only `setUp` is run. */
function installCli({ name, version, command, setUp }: AgentPackage): InstalledCli {
  const folder = join(CACHE, `${name.replace('@', '').replace('/', '-')}-${version}`);
  const path = join(folder, 'node_modules', '.bin', command);
  const finished = join(folder, 'installed');
  if (existsSync(finished)) return { path };
  mkdirSync(folder, { recursive: true });
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save'];
  const steps: (readonly [string, readonly string[]])[] = [
    ['npm', ['install', ...quiet, '--prefix', folder, `${name}@${version}`]],
  ];
  if (setUp) steps.push([process.execPath, [join(folder, 'node_modules', name, setUp)]]);
  for (const [program, args] of steps) {
    const { status, error, stderr } = spawnSync(program, args, {
      encoding: 'utf8',
      timeout: INSTALL_LIMIT_MS,
      cwd: folder,
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    if (status !== 0)
      return { missing: `${name}@${version} could not be installed: ${error?.message ?? stderr.trim()}` };
  }
  writeFileSync(finished, '');
  return { path };
}

/** Describes what a client does, or says why it is skipped. */
export function describeWithCli(agent: AgentPackage, tests: (path: string) => void): void {
  const cli = installCli(agent);
  if ('path' in cli) describe(agent.name, () => tests(cli.path));
  else {
    process.stderr.write(`${cli.missing}\n`);
    describe.skip(`${agent.name} (${cli.missing.split('\n', 1)[0]})`, () => tests(''));
  }
}
