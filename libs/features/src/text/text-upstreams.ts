import { GatewayError, nearestName, SPECIFIED_TEXT_MODELS, type TextProvider } from '#contracts';

/** An upstream as the router sees it. */
export interface TextUpstream {
  readonly provider: TextProvider;
  /** Public model name to the upstream's own; undefined when it serves every model under its public name. */
  readonly models: ReadonlyMap<string, string> | undefined;
  /** Share of the requests within its priority; 0 takes none. */
  readonly weight: number;
  /** Lower numbers are asked first; higher ones only when all lower have failed. */
  readonly priority: number;
}

/** One upstream that serves a model, under the name it has there. */
export interface TextRoute {
  readonly upstream: TextUpstream;
  readonly upstreamModel: string;
}

/** Which upstreams serve which model. */
export class TextUpstreams {
  readonly #upstreams: readonly TextUpstream[];
  readonly #random: () => number;
  readonly #routes = new Map<string, readonly TextRoute[]>();

  /** @param random a number from 0 to 1, 1 excluded; replaced in tests. */
  constructor(upstreams: readonly TextUpstream[], random: () => number = Math.random) {
    this.#upstreams = upstreams;
    this.#random = random;
    for (const model of this.models()) this.#routes.set(model, this.#routesOf(model));
  }

  /** Every public model name: those of D1, and those the upstreams add. */
  models(): string[] {
    const configured = this.#upstreams.flatMap(({ models }) => [...(models?.keys() ?? [])]);
    return [...new Set([...SPECIFIED_TEXT_MODELS.map(({ id }) => id), ...configured])];
  }

  /**
   * The upstreams of a model in the order to ask them: by priority, shuffled by weight within one.
   *
   * @throws GatewayError `model_not_found` for an unknown model, `unavailable` for one that no upstream serves.
   */
  routes(model: string): readonly TextRoute[] {
    const routes = this.#routes.get(model);
    if (!routes) {
      const near = nearestName(model, this.models());
      const hint = near === null ? '' : ` Did you mean "${near}"?`;
      throw new GatewayError('model_not_found', `There is no model "${model}".${hint}`, { param: 'model' });
    }
    if (routes.length === 0)
      throw new GatewayError('unavailable', `No upstream serves the model "${model}" at the moment.`, {
        param: 'model',
      });
    return routes.length === 1 ? routes : this.#shuffled(routes);
  }

  #routesOf(model: string): TextRoute[] {
    return this.#upstreams.flatMap((upstream) => {
      const upstreamModel = upstream.models ? upstream.models.get(model) : model;
      return upstreamModel === undefined || upstream.weight === 0 ? [] : [{ upstream, upstreamModel }];
    });
  }

  /** Weighted order without replacement: each draws a time, heavier ones tend to earlier ones. */
  #shuffled(routes: readonly TextRoute[]): TextRoute[] {
    return routes
      .map((route) => ({ route, time: -Math.log(1 - this.#random()) / route.upstream.weight }))
      .toSorted((one, other) => one.route.upstream.priority - other.route.upstream.priority || one.time - other.time)
      .map(({ route }) => route);
  }
}
