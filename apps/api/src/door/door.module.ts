import { IdempotencyModule, LimitsModule } from '#features';
import { Global, Module } from '@nestjs/common';
import { Admission } from './admission.js';

/** What the guards of every room ask. */
@Global()
@Module({
  imports: [IdempotencyModule, LimitsModule],
  providers: [Admission],
  exports: [IdempotencyModule, Admission],
})
export class DoorModule {}
