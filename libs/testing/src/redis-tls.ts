import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './free-ports.js';
import { noteProcess } from './run-folder.js';

/** A master and its Sentinel, which speak nothing but TLS, with a certificate that only an authority of the test's own signed. */
export interface SentinelOverTls {
  /** As an operator would set REDIS_URL. */
  readonly url: string;
  /** The certificate of the authority, in a file. */
  readonly authorityFile: string;
  readonly stop: () => Promise<void>;
}

const NAME = 'gateway';

/**
 * Starts both from `redis-server` of the PATH, for connections to `localhost`; undefined when there is no such program or no
 * `openssl`.
 */
export async function startSentinelOverTls(): Promise<SentinelOverTls | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-redis-tls-'));
  const programs: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(programs.map(end));
    rmSync(folder, { recursive: true, force: true });
  };
  if (!writeCertificates(folder)) {
    await stop();
    return undefined;
  }
  const [masterPort, sentinelPort] = [await freePort(), await freePort()];
  const tls = ['port 0', 'bind 127.0.0.1', 'tls-auth-clients no', 'tls-replication yes', ...filesIn(folder)];
  const master = [`tls-port ${masterPort}`, 'save ""', 'appendonly no', 'maxmemory-policy noeviction', ...tls];
  const monitor = `sentinel monitor ${NAME} localhost ${masterPort} 1`;
  const names = ['sentinel resolve-hostnames yes', 'sentinel announce-hostnames yes'];
  const sentinel = [`tls-port ${sentinelPort}`, ...tls, ...names, monitor];
  for (const [name, settings, sign] of [
    ['master', master, 'Ready to accept connections'],
    ['sentinel', sentinel, '+monitor master'],
  ] as const) {
    const file = join(folder, `${name}.conf`);
    writeFileSync(file, `${settings.join('\n')}\n`);
    const program = spawn('redis-server', name === 'sentinel' ? [file, '--sentinel'] : [file], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    noteProcess(program.pid);
    programs.push(program);
    if (await says(program, sign)) continue;
    await stop();
    return undefined;
  }
  return {
    url: `rediss-sentinel://localhost:${sentinelPort}/${NAME}`,
    authorityFile: join(folder, 'authority.crt'),
    stop,
  };
}

const filesIn = (folder: string): string[] => [
  `tls-cert-file ${folder}/server.crt`,
  `tls-key-file ${folder}/server.key`,
  `tls-ca-cert-file ${folder}/authority.crt`,
];

/** An authority, and a certificate for `localhost` that it signed. False without `openssl`. */
export function writeCertificates(folder: string): boolean {
  const openssl = (...args: string[]): unknown => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const newKey = ['-newkey', 'rsa:2048', '-nodes', '-subj'];
  try {
    openssl('req', '-x509', ...newKey, '/CN=Authority', '-keyout', 'authority.key', '-out', 'authority.crt');
    openssl('req', ...newKey, '/CN=localhost', '-keyout', 'server.key', '-out', 'server.csr');
    writeFileSync(join(folder, 'names.txt'), 'subjectAltName=DNS:localhost\n');
    const signed = ['-CA', 'authority.crt', '-CAkey', 'authority.key', '-CAcreateserial', '-extfile', 'names.txt'];
    openssl('x509', '-req', '-in', 'server.csr', ...signed, '-out', 'server.crt');
    return true;
  } catch {
    return false;
  }
}

async function says(program: ChildProcess, sign: string): Promise<boolean> {
  const missing = once(program, 'error').then(() => false);
  const exited = once(program, 'exit').then(() => false);
  const heard = (async () => {
    if (program.stdout === null) return false;
    for await (const line of createInterface({ input: program.stdout })) {
      if (!line.includes(sign)) continue;
      program.stdout.resume();
      return true;
    }
    return false;
  })();
  return Promise.race([missing, exited, heard]).catch(() => false);
}

async function end(program: ChildProcess): Promise<void> {
  if (program.pid === undefined || program.exitCode !== null || program.signalCode !== null) return;
  program.kill('SIGKILL');
  await once(program, 'exit');
}
