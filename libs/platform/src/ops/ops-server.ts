import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { IsNotEmpty, IsOptional, IsString, MinLength } from 'class-validator';
import { Variable } from '../config/variable.js';
import type { Health } from '../health/health.js';
import type { MetricsPage } from '../metrics/metrics-page.js';
import type { ReservedPort } from '../reserve-port.js';

/** What can be seen of a process. */
interface Observable {
  readonly health: Health;
  readonly metrics: MetricsPage;
}

export interface OpsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves /healthz, /readyz and /metrics on the reserved `OPS_PORT`, apart from the traffic of clients. */
export function startOpsServer(reserved: ReservedPort, observable: Observable): OpsServer {
  const server = createServer((request, response) => void answer(request, response, observable));
  server.requestTimeout = 5_000;
  reserved.handTo(server);
  return { port: reserved.port, close: () => closeServer(server) };
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

async function answer(request: IncomingMessage, response: ServerResponse, observable: Observable): Promise<void> {
  const page = await renderPage(request.url ?? '/', observable);
  response.writeHead(page.status, { 'content-type': page.contentType, 'cache-control': 'no-store' });
  response.end(request.method === 'HEAD' ? undefined : page.body);
}

interface Page {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const json = (status: number, value: object): Page => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(value),
});

async function renderPage(url: string, { health, metrics }: Observable): Promise<Page> {
  switch (url.split('?', 1)[0]) {
    case '/healthz':
      return json(200, health.alive());
    case '/readyz': {
      const readiness = await health.ready();
      return json(readiness.status === 'not_ready' ? 503 : 200, readiness);
    }
    case '/metrics':
      return { status: 200, contentType: metrics.contentType, body: await metrics.render() };
    default:
      return json(404, { message: 'This port serves /healthz, /readyz and /metrics.' });
  }
}

/** How operators and orchestrators look into a process. */
export class OpsConfig {
  @Variable({
    description:
      'Port of /healthz, /readyz and /metrics of every process, workers included. When unset, workers serve none of them and the API serves all three on PORT, /metrics only to the same machine or with ADMIN_TOKEN or OPS_VIEWER_TOKEN as Bearer.',
    example: '9464',
    between: [0, 65_535],
  })
  @IsOptional()
  OPS_PORT?: number;

  @Variable({ description: 'Address that OPS_PORT listens on; 0.0.0.0 opens it to the network of the scraper.' })
  @IsString()
  @IsNotEmpty()
  OPS_HOST = '127.0.0.1';

  @Variable({
    description:
      'Token for read-only access to the operator pages of the console, the queues and the metrics. When unset, only ADMIN_TOKEN opens them.',
    secret: true,
  })
  @IsOptional()
  @MinLength(12)
  OPS_VIEWER_TOKEN?: string;

  @Variable({
    description:
      'How long a process that shuts down reports "not ready" before it refuses requests, so that load balancers notice first.',
    unit: 'seconds',
    between: [0, 60],
  })
  DRAIN_SECONDS = 0;
}
