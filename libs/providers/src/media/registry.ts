import type { MediaProvider, ModelId } from '#contracts';

/** Models that are made by another vendor than the first, by the id of theirs; a misspelt model does not compile. */
export type MediaRoutes = Readonly<Partial<Record<ModelId, string>>>;

/** Knows who makes what a model is asked for: the first vendor of the list, unless the routes name another. */
export class MediaProviderRegistry {
  readonly #byId: ReadonlyMap<string, MediaProvider>;
  readonly #byModel: ReadonlyMap<string, MediaProvider>;

  /** @throws RangeError when two vendors have one id, or a route leads to none of them. */
  constructor(
    private readonly providers: readonly [MediaProvider, ...MediaProvider[]],
    routes: MediaRoutes = {},
  ) {
    this.#byId = new Map(providers.map((provider) => [provider.id, provider]));
    if (this.#byId.size < providers.length) throw new RangeError('two media providers have the same id');
    this.#byModel = new Map(Object.entries(routes).map(([model, id]) => [model, this.providerById(id)]));
  }

  /** Every vendor. */
  get all(): readonly MediaProvider[] {
    return this.providers;
  }

  /** Who takes new orders for a model. */
  providerOf(model: string): MediaProvider {
    return this.#byModel.get(model) ?? this.providers[0];
  }

  /**
   * The vendor that holds a running operation, which is not always the one that takes new orders now.
   *
   * @throws RangeError when this build knows no such vendor.
   */
  providerById(id: string): MediaProvider {
    const provider = this.#byId.get(id);
    if (provider) return provider;
    throw new RangeError(`"${id}" is no media provider: ${[...this.#byId.keys()].join(', ')}`);
  }
}
