import { Controller, Get, Inject, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { GatewayError } from '#contracts';
import { PLATFORM, type Platform } from '#runtime';
import { Route, Routes } from '../../http/route.js';
import { MetricsGuard } from './metrics.guard.js';

/** The numbers of this process for Prometheus, as long as no port of their own (`OPS_PORT`) is set for them. */
@Controller('metrics')
@UseGuards(MetricsGuard)
@Routes({ style: 'ops', access: 'operator' })
export class MetricsController {
  constructor(@Inject(PLATFORM) private readonly platform: Platform) {}

  @Get()
  @Route({ operation: [], isQuiet: true, answer: 'native' })
  async read(@Res() response: Response): Promise<void> {
    if (this.platform.config.ops.OPS_PORT !== undefined) {
      throw new GatewayError('not_found', 'Metrics are served on the port that OPS_PORT names.');
    }
    const body = await this.platform.metrics.render();
    // Express would rewrite the parameters of the media type, which carry the version of the format.
    response.setHeader('content-type', this.platform.metrics.contentType);
    response.end(body);
  }
}
