import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { RunningTexts, TaskWatch } from '#features';
import type { PortSettings, ReservedPort } from '#platform';
import type { Platform, ProcessConfig } from '#runtime';

export interface RunningApi {
  /** The port it listens on; differs from the configured one when that is 0. */
  readonly port: number;
  /**
   * Takes no new requests, and gives running ones up to `graceMs`, those for texts up to `textMs`. Then texts are told that the
   * process ends, and what is left is cut.
   */
  stop(graceMs: number, textMs?: number): Promise<void>;
}

/** Longer than the idle time of common load balancers, so that they and not we close idle connections. */
const KEEP_ALIVE_MS = 75_000;
/** A client that takes longer to send its headers, or its whole request, holds a connection for nothing. */
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 120_000;
/** How often connections are closed that answered their last request while the process stops. */
const CLOSE_IDLE_EVERY_MS = 100;
/** The turn of an agent takes minutes. */
const DRAIN_SECONDS = 600;
const EMBEDDED_DRAIN_SECONDS = 5;

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
    stop: (graceMs, textMs = graceMs) => stopServer(app, server, graceMs, textMs),
  };
}

/** How long running texts may go on at a stop, in milliseconds. A person at a terminal waits for less than a load balancer. */
export const textDrainMs = ({ server, database }: ProcessConfig): number =>
  1000 * (server.TEXT_DRAIN_SECONDS ?? (database.DATABASE_URL ? DRAIN_SECONDS : EMBEDDED_DRAIN_SECONDS));

/** How long a process that serves the API may take to stop, in milliseconds. */
export const longestStopMs = (config: ProcessConfig): number =>
  1000 * config.ops.DRAIN_SECONDS + Math.max(1000 * config.server.SHUTDOWN_GRACE_SECONDS, textDrainMs(config));

async function stopServer(app: NestExpressApplication, server: Server, graceMs: number, textMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const closing = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
  // Clients waiting for a task would wait through the whole grace period; another replica answers them.
  app.get(TaskWatch, { strict: false }).close();
  const texts = app.get(RunningTexts, { strict: false });
  const drained = texts.drain(textMs);
  await Promise.race([closed, Promise.all([drained, sleep(graceMs, undefined, { ref: false })])]);
  server.closeAllConnections();
  await closed;
  clearInterval(closing);
  // Also those whose callers have left.
  await drained;
  await texts.finish();
  await app.close();
}
