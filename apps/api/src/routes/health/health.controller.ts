import { Controller, Get, Header, Inject } from '@nestjs/common';
import type { Response } from 'express';
import type { Liveness, Readiness } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { operationsOf } from '../../http/operation.js';
import { Reply, Route, Routes } from '../../http/route.js';

/** What orchestrators ask. */
const HEALTH_OPERATIONS = operationsOf('Operations', {
  isAlive: {
    summary: 'Whether the process responds, and its version',
    answer: { type: 'object', properties: { status: { const: 'alive' }, version: { type: 'string' } } },
  },
  isReady: {
    summary: 'Whether the process is ready, part by part',
    answer: {
      type: 'object',
      properties: {
        status: { enum: ['ready', 'degraded', 'not_ready'] },
        reasons: { type: 'array', items: { type: 'string' } },
        parts: { type: 'object' },
      },
    },
    errors: ['unavailable'],
  },
});

/** For orchestrators and load balancers; open to everyone, and revealing nothing about where things are. */
@Controller()
@Routes({ style: 'ops', access: 'open' })
export class HealthController {
  constructor(@Inject(PLATFORM) private readonly platform: Platform) {}

  /** 200 while the process answers at all. */
  @Get('healthz')
  @Route({ operation: HEALTH_OPERATIONS.isAlive, isQuiet: true, answer: 'native' })
  @Header('cache-control', 'no-store')
  alive(): Liveness {
    return this.platform.health.alive();
  }

  /** 200 when the process should be given work, though something may be amiss (`degraded`); 503 when not. */
  @Get('readyz')
  @Route({ operation: HEALTH_OPERATIONS.isReady, isQuiet: true, answer: 'native' })
  @Header('cache-control', 'no-store')
  async ready(@Reply() response: Response): Promise<Readiness> {
    const readiness = await this.platform.health.ready();
    response.status(readiness.status === 'not_ready' ? 503 : 200);
    return readiness;
  }
}
