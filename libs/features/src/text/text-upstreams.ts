import { GatewayError, nearestName, SPECIFIED_TEXT_MODELS, type TextProvider } from '#contracts';

/** An upstream as the router sees it. */
export interface TextUpstream {
  readonly provider: TextProvider;
  /** Names its health. An upstream whose settings changed has another one, and so begins without failures. */
  readonly healthName: string;
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

/** The upstreams of one moment, with the routes made of them. */
interface Table {
  readonly upstreams: readonly TextUpstream[];
  readonly routes: ReadonlyMap<string, readonly TextRoute[]>;
}

/** Which upstreams serve which model. They may be exchanged at any time; who has routes already asks `current` again. */
export class TextUpstreams {
  readonly #random: () => number;
  #table: Table;

  /** @param random a number from 0 to 1, 1 excluded; replaced in tests. */
  constructor(upstreams: readonly TextUpstream[] = [], random: () => number = Math.random) {
    this.#random = random;
    this.#table = tableOf(upstreams);
  }

  get all(): readonly TextUpstream[] {
    return this.#table.upstreams;
  }

  /** Puts these in the place of all there were, at once. */
  exchange(upstreams: readonly TextUpstream[]): void {
    this.#table = tableOf(upstreams);
  }

  /** Every public model name: those of D1, and those the upstreams add. */
  models(): string[] {
    return [...this.#table.routes.keys()];
  }

  /** Whether this is the public name of a text model. */
  has(model: string): boolean {
    return this.#table.routes.has(model);
  }

  /**
   * The upstreams of a model in the order to ask them: by priority, shuffled by weight within one.
   *
   * @throws GatewayError `model_not_found` for an unknown model, `unavailable` for one that no upstream serves.
   */
  routes(model: string): readonly TextRoute[] {
    const routes = this.#table.routes.get(model);
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

  /**
   * The route as it is now: with the upstream that took the place of its own, or undefined when there is none. Whoever
   * asks the upstream in the same turn of the event loop never meets one whose connections are closed.
   */
  current(route: TextRoute, model: string): TextRoute | undefined {
    const { upstreams, routes } = this.#table;
    if (upstreams.includes(route.upstream)) return route;
    return routes.get(model)?.find(({ upstream }) => upstream.provider.id === route.upstream.provider.id);
  }

  /** Weighted order without replacement: each draws a time, heavier ones tend to earlier ones. */
  #shuffled(routes: readonly TextRoute[]): TextRoute[] {
    return routes
      .map((route) => ({ route, time: -Math.log(1 - this.#random()) / route.upstream.weight }))
      .toSorted((one, other) => one.route.upstream.priority - other.route.upstream.priority || one.time - other.time)
      .map(({ route }) => route);
  }
}

function tableOf(upstreams: readonly TextUpstream[]): Table {
  const configured = upstreams.flatMap(({ models }) => [...(models?.keys() ?? [])]);
  const models = new Set([...SPECIFIED_TEXT_MODELS.map(({ id }) => id), ...configured]);
  return { upstreams, routes: new Map([...models].map((model) => [model, routesOf(model, upstreams)])) };
}

function routesOf(model: string, upstreams: readonly TextUpstream[]): TextRoute[] {
  return upstreams.flatMap((upstream) => {
    const upstreamModel = upstream.models ? upstream.models.get(model) : model;
    return upstreamModel === undefined || upstream.weight === 0 ? [] : [{ upstream, upstreamModel }];
  });
}
