import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { NestLogger } from '#platform';

export interface Worker {
  start(): void;
  /** Takes nothing new and lets what is under way reach a safe point within `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Lets Nest put a worker together, in an application context of its own: two workers of one process share the platform
 * and nothing else. It is not started.
 */
export async function createWorker<OneWorker extends Worker>(
  module: DynamicModule,
  worker: Type<OneWorker>,
): Promise<OneWorker> {
  const context = await NestFactory.createApplicationContext(module, { logger: new NestLogger(), abortOnError: false });
  return context.get(worker);
}

/** Names one worker of one process, as leases and operators see it. */
export const workerId = (kind: string): string => `${kind}@${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
