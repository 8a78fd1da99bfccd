import { Controller, Get, Header, Inject, Res } from '@nestjs/common';
import type { Response } from 'express';
import { type Liveness, type Readiness } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { Route, Routes } from '../../http/route.js';
import { HEALTH_OPERATIONS } from './health.openapi.js';

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
  async ready(@Res({ passthrough: true }) response: Response): Promise<Readiness> {
    const readiness = await this.platform.health.ready();
    response.status(readiness.status === 'not_ready' ? 503 : 200);
    return readiness;
  }
}
