import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Database, SafeFetcher } from '#platform';
import type { Platform } from './platform.js';

/** Injects the whole Platform. */
export const PLATFORM = Symbol('Platform');
/** Injects the MediaStore. */
export const MEDIA_STORE = Symbol('MediaStore');
/** Injects the TaskNotifier. */
export const TASK_NOTIFIER = Symbol('TaskNotifier');

/** Gives every module of an app the opened platform. */
@Global()
@Module({})
export class PlatformModule {
  static register(platform: Platform): DynamicModule {
    const providers = [
      { provide: PLATFORM, useValue: platform },
      { provide: MEDIA_STORE, useValue: platform.store },
      { provide: TASK_NOTIFIER, useValue: platform.notifier },
      { provide: Database, useValue: platform.database },
      { provide: SafeFetcher, useValue: platform.fetcher },
    ];
    return { module: PlatformModule, providers, exports: providers.map(({ provide }) => provide) };
  }
}
