import { Module } from '@nestjs/common';
import { UsageService } from './usage.service.js';

/** What was used. */
@Module({ providers: [UsageService], exports: [UsageService] })
export class UsageModule {}
