import { Module } from '@nestjs/common';
import { VendorCallbacksService } from './vendor-callbacks.service.js';

/** Calls of vendors about their work. */
@Module({ providers: [VendorCallbacksService], exports: [VendorCallbacksService] })
export class MediaCallbacksModule {}
