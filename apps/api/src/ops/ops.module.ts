import { Module } from '@nestjs/common';
import { HealthController } from '../health/health.controller.js';
import { MetricsController } from './metrics.controller.js';

/** What operators and orchestrators see of the API. */
@Module({ controllers: [HealthController, MetricsController] })
export class OpsModule {}
