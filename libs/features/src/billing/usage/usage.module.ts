import { Module } from '@nestjs/common';
import { MarginsService } from './margins.service.js';
import { UsageService } from './usage.service.js';

/** What was used. */
@Module({ providers: [MarginsService, UsageService], exports: [MarginsService, UsageService] })
export class UsageModule {}
