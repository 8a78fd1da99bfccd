import { type DynamicModule, Injectable, Module, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { OpenMediaUpstreams } from '#providers';
import { LeavingUpstreams, MediaRouter, MediaUpstreams } from './media-upstreams.js';
import { MediaUpstreamRegistry, OPEN_MEDIA_UPSTREAMS } from './upstream-registry.js';

/** Knows the upstreams before the first request. */
@Injectable()
class MediaLifetime implements OnModuleInit, OnModuleDestroy {
  constructor(private readonly registry: MediaUpstreamRegistry) {}

  onModuleInit(): Promise<void> {
    return this.registry.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.registry.close();
  }
}

/** The upstreams of videos and images. */
@Module({
  providers: [LeavingUpstreams, MediaLifetime, MediaUpstreamRegistry],
  exports: [LeavingUpstreams, MediaUpstreamRegistry, MediaRouter, MediaUpstreams],
})
export class MediaModule {
  static register(providers: OpenMediaUpstreams): DynamicModule {
    // Empty until the registry has read the file and the table.
    const upstreams = new MediaUpstreams();
    return {
      module: MediaModule,
      // Orders are checked, models listed, prices watched and upstreams changed by the same.
      global: true,
      providers: [
        { provide: OPEN_MEDIA_UPSTREAMS, useValue: providers },
        { provide: MediaUpstreams, useValue: upstreams },
        { provide: MediaRouter, useValue: new MediaRouter(upstreams) },
      ],
    };
  }
}
