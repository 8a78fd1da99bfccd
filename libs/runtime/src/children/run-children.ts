import { apiProcesses, Health, MetricsPage, type ReservedPort, startOpsServer } from '#platform';
import type { ProcessConfig } from '../config/process-config.js';
import { readinessSource } from '../metrics/platform-sources.js';
import { publicBaseUrl, reserveOpsPort } from '../platform.js';
import type { RunningProcess } from '../run-process.js';
import { ChildProcesses, type ChildrenPlan } from './child-processes.js';

/**
 * Runs children that serve a port, from a process that does nothing else: it opens neither database nor queues, and serves health and
 * metrics of the whole on OPS_PORT.
 *
 * @param stopMs how long a child may take to stop by its settings, in milliseconds.
 * @throws PortError, ChildStartError
 */
export async function runChildren(config: ProcessConfig, port: ReservedPort, stopMs: number): Promise<RunningProcess> {
  const opsPort = await reserveOpsPort(config);
  const [health, metrics] = [new Health([]), new MetricsPage()];
  metrics.add(readinessSource(health));
  health.starting();
  const ops = opsPort && startOpsServer(opsPort, { health, metrics });
  const children = await startChildren(config, port, { stopMs, health, metrics });
  health.started();
  return {
    ready: `API on ${publicBaseUrl(config)} is ready, in ${apiProcesses(config.server)} processes`,
    port: config.server.PORT,
    renew: () => children.renew(),
    stop: async () => {
      health.drain();
      await children.stop();
      await ops?.close();
    },
  };
}

/** Gives the port to children, which serve it from now on. @throws ChildStartError */
export function startChildren(
  { server }: ProcessConfig,
  port: ReservedPort,
  plan: Omit<ChildrenPlan, 'count' | 'port'>,
): Promise<ChildProcesses> {
  // With PORT 0 the system chose; links that are made from now on must carry the port it chose.
  server.PORT = port.port;
  port.close();
  return ChildProcesses.start({ ...plan, count: apiProcesses(server), port: port.port });
}
