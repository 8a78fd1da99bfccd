import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { CATALOG, type Medium, type ModelFamily } from '#contracts';
import { signals } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { MEDIUM } from '../injection-tokens.js';
import { MediaCircuits } from '../../upstreams/upstream-circuits.js';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';

/** Exports which upstreams of a worker's medium cool down after failures, and which models have no upstream meanwhile. */
@Injectable()
export class MediaMetrics implements OnModuleInit {
  private readonly models: readonly string[];

  constructor(
    private readonly upstreams: MediaUpstreams,
    private readonly circuits: MediaCircuits,
    @Inject(MEDIUM) private readonly medium: Medium,
    @Inject(PLATFORM) private readonly platform: Platform,
  ) {
    this.models = (CATALOG as readonly ModelFamily[])
      .filter((family) => family.medium === medium)
      .flatMap((family) => family.models);
  }

  onModuleInit(): void {
    this.platform.metrics.add({ name: `media_upstreams_${this.medium}`, collect: () => this.show() });
  }

  show(): void {
    const { medium, upstreams, circuits } = this;
    const seen = new Set(this.models.flatMap((model) => upstreams.serving(model)));
    for (const routed of seen)
      signals.mediaCoolingDown.set({ upstream: routed.upstream.id, medium }, circuits.isCooling(routed) ? 1 : 0);
    this.forgetLeft(new Set([...seen].map(({ upstream }) => upstream.id)));
    for (const model of this.models) {
      const serving = upstreams.serving(model);
      const isUnavailable = serving.length > 0 && serving.every((routed) => circuits.isCooling(routed, model));
      signals.mediaUnavailable.set({ model }, isUnavailable ? 1 : 0);
      signals.mediaUnavailableBefore.set({ model }, isUnavailable ? 1 : 0);
    }
  }

  private readonly shown = new Set<string>();

  /** An upstream that makes nothing any more must not look as if it cooled down forever. */
  private forgetLeft(ids: ReadonlySet<string>): void {
    for (const upstream of this.shown)
      if (!ids.has(upstream)) signals.mediaCoolingDown.remove({ upstream, medium: this.medium });
    this.shown.clear();
    for (const id of ids) this.shown.add(id);
  }
}
