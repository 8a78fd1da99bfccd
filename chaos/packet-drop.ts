import { execFileSync, spawnSync } from 'node:child_process';

/** Set in a process that has a network of its own, where rules affect nothing else. */
const OWN_NETWORK = 'CHAOS_OWN_NETWORK';

/** Why packets cannot be dropped here; null when they can. */
export const packetDropHindrance = (): string | null =>
  process.env[OWN_NETWORK] === undefined ? 'the run has no network of its own' : null;

/**
 * Runs this program again in a network of its own, with nothing but loopback in it, and answers its exit code; or why
 * that is not permitted here.
 */
export function runInOwnNetwork(): number | string {
  const probe = spawnSync('unshare', ['--net', 'sh', '-c', 'ip link set lo up && iptables -L -n'], {
    encoding: 'utf8',
  });
  if (probe.status !== 0) return (probe.error?.message ?? probe.stderr.trim().split('\n')[0]) || 'not permitted';
  const program = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const { status } = spawnSync('unshare', ['--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...program], {
    stdio: 'inherit',
    env: { ...process.env, [OWN_NETWORK]: '1' },
  });
  return status ?? 1;
}

/** Drops every packet to and from a port of loopback. Answers what ends that. Only in a network of our own. */
export function dropPackets(port: number): () => void {
  const rules = ['--dport', '--sport'].map((side) => [
    'INPUT',
    '-i',
    'lo',
    '-p',
    'tcp',
    side,
    String(port),
    '-j',
    'DROP',
  ]);
  for (const rule of rules) execFileSync('iptables', ['-I', ...rule]);
  return () => {
    for (const rule of rules) execFileSync('iptables', ['-D', ...rule]);
  };
}
