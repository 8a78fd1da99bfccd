import type { MediaProvider, ModelId } from '#contracts';

/** The media vendors this build can talk to. */
export const MEDIA_PROVIDER_IDS = ['sandbox'] as const;
export type MediaProviderId = (typeof MEDIA_PROVIDER_IDS)[number];

/** Models that are made by another vendor than the sandbox; an identifier that the catalogue lacks does not compile. */
export type MediaRoutes = Readonly<Partial<Record<ModelId, MediaProviderId>>>;

/** Knows who makes what a model is asked for: the sandbox, unless the routes name another vendor. */
export class MediaProviderRegistry {
  readonly #routes: ReadonlyMap<string, MediaProviderId | undefined>;

  constructor(
    private readonly providers: Readonly<Record<MediaProviderId, MediaProvider>>,
    routes: MediaRoutes = {},
  ) {
    this.#routes = new Map(Object.entries(routes));
  }

  /** Who takes new orders for a model. */
  providerOf(model: string): MediaProvider {
    return this.providers[this.#routes.get(model) ?? 'sandbox'];
  }

  /**
   * The vendor that holds a running operation, which is not always the one that takes new orders now.
   *
   * @throws RangeError when this build knows no such vendor.
   */
  providerById(id: string): MediaProvider {
    const known = MEDIA_PROVIDER_IDS.find((candidate) => candidate === id);
    if (!known) throw new RangeError(`"${id}" is no media provider: ${MEDIA_PROVIDER_IDS.join(', ')}`);
    return this.providers[known];
  }
}
