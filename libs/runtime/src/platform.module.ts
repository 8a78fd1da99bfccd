import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Database, SafeFetcher, SecretSealer } from '#platform';
import { sandboxSells } from './config/sales.config.js';
import type { Platform } from './platform.js';

export const PLATFORM = Symbol('Platform');
export const MEDIA_STORE = Symbol('MediaStore');
export const TASK_NOTIFIER = Symbol('TaskNotifier');
export const TASK_SIGNALS = Symbol('TaskSignals');
export const FAILPOINTS = Symbol('Failpoints');
/** Injects the secret (a string) with which API keys are hashed. */
export const KEY_PEPPER = Symbol('key pepper');
/** Injects whether (a boolean) what the sandbox makes may be sold: `sandboxSells`. */
export const SANDBOX_MAY_SELL = Symbol('sandbox may sell');

/** Gives every module of an app the opened platform, and by their own tokens the parts of it that classes are made with. */
@Global()
@Module({})
export class PlatformModule {
  static register(platform: Platform): DynamicModule {
    const providers = [
      { provide: PLATFORM, useValue: platform },
      { provide: MEDIA_STORE, useValue: platform.store },
      { provide: TASK_NOTIFIER, useValue: platform.notifier },
      { provide: TASK_SIGNALS, useValue: platform.taskSignals },
      { provide: FAILPOINTS, useValue: platform.failpoints },
      { provide: KEY_PEPPER, useValue: platform.secrets.keyPepper },
      { provide: SANDBOX_MAY_SELL, useValue: sandboxSells(platform.config) },
      { provide: Database, useValue: platform.database },
      { provide: SafeFetcher, useValue: platform.fetcher },
      { provide: SecretSealer, useValue: platform.sealer },
    ];
    return { module: PlatformModule, providers, exports: providers.map(({ provide }) => provide) };
  }
}
