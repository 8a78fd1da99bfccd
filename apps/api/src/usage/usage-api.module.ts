import { AccessModule, LedgerModule, UsageModule } from '#features';
import { Module } from '@nestjs/common';
import { UsageController } from './usage.controller.js';

/** Asking what was used. */
@Module({ imports: [AccessModule, LedgerModule, UsageModule], controllers: [UsageController] })
export class UsageApiModule {}
