import { once } from 'node:events';
import type { Server } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { TaskWatch, TextService } from '#features';
import type { PortSettings, ReservedPort } from '#platform';
import type { Platform, ProcessConfig } from '#runtime';

/** A listening API. */
export interface RunningApi {
  /** The port it listens on; differs from the configured one when that is 0. */
  readonly port: number;
  /** Takes no new requests, gives running ones up to `graceMs`, then cuts what is left. */
  stop(graceMs: number): Promise<void>;
}

/** Longer than the idle time of common load balancers, so that they and not we close idle connections. */
const KEEP_ALIVE_MS = 75_000;
/** A client that takes longer to send its headers, or its whole request, holds a connection for nothing. */
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 120_000;
/** How often connections are closed that answered their last request while the process stops. */
const CLOSE_IDLE_EVERY_MS = 100;

/** Where the API listens, by its variables. */
export const portOf = ({ server: { PORT, HOST } }: ProcessConfig): PortSettings => ({
  port: PORT,
  host: HOST,
  portVariable: 'PORT',
  hostVariable: 'HOST',
});

/**
 * @param reserved the port when it was taken before; else it is taken now.
 * @throws Error `EADDRINUSE` or `EACCES` when the port cannot be had.
 */
export async function serve(
  app: NestExpressApplication,
  { config }: Platform,
  reserved?: ReservedPort,
): Promise<RunningApi> {
  await app.init();
  const server: Server = app.getHttpServer();
  const listening = once(server, 'listening');
  if (reserved) reserved.handTo(server);
  else server.listen(config.server.PORT, config.server.HOST);
  try {
    await listening;
  } catch (error) {
    // Work that the modules began on creation would continue without them.
    await app.close();
    throw error;
  }
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  const address = server.address();
  // With PORT 0 the system chooses; links that are made from now on must carry the port it chose.
  if (typeof address === 'object' && address) config.server.PORT = address.port;
  return {
    port: config.server.PORT,
    stop: (graceMs) => stopServer(app, server, graceMs),
  };
}

async function stopServer(app: NestExpressApplication, server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const closing = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
  // Clients waiting for a task would wait through the whole grace period; another replica answers them.
  app.get(TaskWatch, { strict: false }).close();
  const text = app.get(TextService, { strict: false });
  const deadline = performance.now() + graceMs;
  const timer = setTimeout(() => {
    // A client that is cut off now has not left by itself.
    void text.stopReading();
    server.closeAllConnections();
  }, graceMs);
  await closed;
  clearInterval(closing);
  clearTimeout(timer);
  await text.finishReading(deadline - performance.now());
  await app.close();
}
