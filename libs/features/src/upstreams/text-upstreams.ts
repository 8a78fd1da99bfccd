import { isDeepStrictEqual } from 'node:util';
import {
  allows,
  canAskForTier,
  GatewayError,
  type ModelTraits,
  REFUSE_UNPRICED,
  SPECIFIED_TEXT_MODELS,
  type TextProtocol,
  type TextStyle,
  type UnpricedUse,
  unknownTextModel,
} from '#contracts';
import { type ConfiguredTextUpstream, knownLimits, type ModelLimits } from '#providers';
import { drawnBy, notAvailable, type SandboxPart, weightedOrder } from './upstream-choice.js';

export interface TextUpstream extends ConfiguredTextUpstream {
  /** Names its health. An upstream whose settings changed has another one, and so begins without failures. */
  readonly healthName: string;
}

/** One upstream that serves a model, under the name it has there. */
export interface TextRoute {
  readonly upstream: TextUpstream;
  readonly upstreamModel: string;
  /** What holds for it there; undefined: it takes everything. */
  readonly traits?: ModelTraits | undefined;
}

/** The upstreams of one moment, with the routes built from them. */
interface Table {
  readonly upstreams: readonly TextUpstream[];
  readonly routes: ReadonlyMap<string, readonly TextRoute[]>;
  readonly limits: ReadonlyMap<string, ModelLimits>;
}

/** Which upstreams serve which model. They may be exchanged at any time; holders of routes ask `current` again. */
export class TextUpstreams {
  private readonly random: () => number;
  private table: Table;
  private sandbox: SandboxPart = 'inactive';
  private belowCost: ReadonlySet<string> = new Set();
  /** The price lists that losses are known of. Of another one, which follows the book, those of the book count. */
  private lists: ReadonlySet<string> = new Set();

  /** @param random a number from 0 to 1, 1 excluded; replaced in tests. */
  constructor(upstreams: readonly TextUpstream[] = [], random: () => number = Math.random) {
    this.random = random;
    this.table = tableOf(upstreams);
  }

  get all(): readonly TextUpstream[] {
    return this.table.upstreams;
  }

  /**
   * Puts these in place of all there were, at once.
   *
   * @param sandbox whether the only one is the built-in writer, or there is none because that may not sell.
   */
  exchange(upstreams: readonly TextUpstream[], sandbox: SandboxPart = 'inactive'): void {
    this.table = tableOf(upstreams, this.belowCost);
    this.sandbox = sandbox;
  }

  /**
   * Leaves these out of the routes of models that sell below their cost there, where `refuse_below_cost` of their entries says so.
   *
   * @param belowCost upstreams and their models, at the prices of the book and of each price list, as `placeOf` writes them.
   * @param lists the price lists that it was looked for in.
   */
  leaveOut(belowCost: ReadonlySet<string>, lists: readonly string[] = []): void {
    this.belowCost = belowCost;
    this.lists = new Set(lists);
    this.table = tableOf(this.table.upstreams, belowCost);
  }

  /** Whether it is left out for a model at the prices of a list, because they are below its cost. */
  leavesOut(upstream: TextUpstream, model: string, priceList?: string): boolean {
    const list = priceList !== undefined && this.lists.has(priceList) ? priceList : undefined;
    return isLeftOut(upstream, model, this.belowCost, list);
  }

  /** True while the built-in sandbox writes every text. */
  get isSandbox(): boolean {
    return this.sandbox === 'makes';
  }

  served(): string[] {
    return [...this.table.routes].flatMap(([model, routes]) => (routes.length > 0 ? [model] : []));
  }

  /** Every public model name: those of the catalogue, and those the upstreams add. */
  models(): string[] {
    return [...this.table.routes.keys()];
  }

  /** The public names of the models that some upstream makes embeddings with. */
  embeddingModels(): string[] {
    const offered = this.all.filter(({ weight }) => weight > 0);
    return [...new Set(offered.flatMap(({ embeddings }) => [...(embeddings?.models.keys() ?? [])]))];
  }

  /** Whether this is the public name of a text model. */
  has(model: string): boolean {
    return this.table.routes.has(model);
  }

  /** What holds for a model whichever of its upstreams replies: the shortest reply, the largest input. */
  limitsOf(model: string): ModelLimits {
    return this.table.limits.get(model) ?? knownLimits(model);
  }

  /** What holds for a model at each of its upstreams; what differs between them is left out, and all where one takes everything. */
  traitsOf(model: string): Partial<ModelTraits> {
    const [first, ...others] = (this.table.routes.get(model) ?? []).map(({ traits }) => traits);
    const shared = Object.entries(first ?? {}).filter(([name, value]) =>
      others.every((traits) => traits && isDeepStrictEqual(traits[name as keyof ModelTraits], value)),
    );
    return Object.fromEntries(shared);
  }

  /**
   * The upstreams of a model in the order to ask them: by priority, shuffled by weight within one.
   *
   * @param uses only upstreams whose policies allow all of them are listed. Tools that are merely offered are an
   * exception: where no upstream can or may run them, those are listed that do without.
   * @param style of the request; undefined: no upstream does without a tool.
   * @param conversation where it is given, its hash takes the place of chance, so that all replicas choose alike.
   * @param priceList of the account; undefined: the book.
   * @throws GatewayError `model_not_found` for an unknown model, `unavailable` for one that no upstream serves now,
   * `unsupported_parameter` for a use that no policy allows, `model_not_available` where there is no upstream at all and
   * the sandbox may not sell.
   */
  routes(
    model: string,
    uses: readonly UnpricedUse[] = [],
    style?: TextStyle,
    conversation?: string,
    priceList?: string,
  ): readonly TextRoute[] {
    const routes = this.routesAt(model, priceList);
    if (!routes) throw new GatewayError('model_not_found', unknownTextModel(model, this.models()), { param: 'model' });
    if (routes.length === 0 && this.sandbox === 'forbidden') throw notAvailable(model);
    if (routes.length === 0)
      throw new GatewayError('unavailable', `No upstream serves the model "${model}" at the moment.`, {
        param: 'model',
      });
    const allowed = uses.length === 0 ? routes : routesAllowing(routes, uses, model, style);
    if (conversation === undefined) return weightedOrder(allowed, ({ upstream }) => upstream, this.random);
    return weightedOrder(
      allowed,
      ({ upstream }) => upstream,
      ({ upstream }) => (upstream.sticky === false ? this.random() : drawnBy(conversation, upstream.provider.id)),
    );
  }

  candidates(model: string, priceList?: string): number {
    return this.routesAt(model, priceList)?.length ?? 0;
  }

  /** Whether an upstream of the model runs everything itself that a request asks for; the sandbox runs nothing. */
  runsNatively(model: string, uses: readonly UnpricedUse[], style: TextStyle, priceList?: string): boolean {
    const routes = this.routesAt(model, priceList) ?? [];
    return routes.some(
      (route) => route.upstream.provider.protocol !== 'sandbox' && uses.every((use) => isServed(route, use, style)),
    );
  }

  /** Whether nothing but the sandbox answers for a model. */
  isSandboxAlone(model: string, priceList?: string): boolean {
    const routes = this.routesAt(model, priceList) ?? [];
    return routes.every(({ upstream }) => upstream.provider.protocol === 'sandbox');
  }

  /**
   * The route as it is now: with the upstream that took the place of its own, or undefined when there is none. Code that
   * asks the upstream in the same turn of the event loop never meets one whose connections are closed.
   */
  current(
    route: TextRoute,
    model: string,
    uses: readonly UnpricedUse[] = [],
    style?: TextStyle,
    priceList?: string,
  ): TextRoute | undefined {
    if (this.table.upstreams.includes(route.upstream)) return route;
    const current = this.routesAt(model, priceList)?.find(
      ({ upstream }) => upstream.provider.id === route.upstream.provider.id,
    );
    return current && uses.every((use) => isAllowed(current, use, style) || doesWithout(current, use, style))
      ? current
      : undefined;
  }

  /** The routes of a model for an account: where some sell below cost, that depends on its prices. */
  private routesAt(model: string, priceList: string | undefined): readonly TextRoute[] | undefined {
    const ofBook = this.table.routes.get(model);
    // Nobody sells below cost almost always, and then all lists have the routes of the book.
    const isOther =
      this.belowCost.size > 0 && priceList !== undefined && this.lists.has(priceList) && ofBook !== undefined;
    return isOther ? routesOf(model, this.table.upstreams, this.belowCost, priceList) : ofBook;
  }
}

/** A hint is sent to upstreams of the request's own style only. */
const isAllowed = (route: TextRoute, use: UnpricedUse, style: TextStyle | undefined): boolean =>
  (use.isHint === true && style !== undefined && route.upstream.provider.protocol !== style) ||
  // A tier that is asked for must reach who sells it, whether it has a price or an operator's permission.
  (allows(route.upstream.policy ?? REFUSE_UNPRICED, use) && !isUntold(route, use, style));

/** Whether an upstream may be asked for a tier, and has no field to ask for it. */
const isUntold = (
  { upstream: { policy = REFUSE_UNPRICED, provider } }: TextRoute,
  use: UnpricedUse,
  style: TextStyle | undefined,
): boolean => use.kind === 'service_tiers' && allows(policy, use) && !isTold(provider.protocol, use, style);

const isTold = (protocol: TextProtocol, { name }: UnpricedUse, style: TextStyle | undefined): boolean =>
  speaks(protocol, style) || canAskForTier(protocol, name);

const speaks = (protocol: TextProtocol, style: TextStyle | undefined): boolean =>
  style === undefined || protocol === style || protocol === 'sandbox';

/** Whether the upstream runs what is asked for: tools of a vendor are known to upstreams of the request's own style only. */
const isServed = (route: TextRoute, use: UnpricedUse, style: TextStyle | undefined): boolean => {
  const { protocol } = route.upstream.provider;
  return isAllowed(route, use, style) && (use.kind !== 'tools' || speaks(protocol, style));
};

/** Whether the upstream is asked without a tool that is only offered. */
function doesWithout({ upstream }: TextRoute, use: UnpricedUse, style: TextStyle | undefined): boolean {
  if (use.isOptional !== true || style === undefined) return false;
  return (upstream.lackingTools ?? 'drop') === 'drop';
}

/** The names of the tools that an upstream is asked without. */
export const toolsLeftOut = (route: TextRoute, uses: readonly UnpricedUse[], style: TextStyle): readonly string[] =>
  uses.filter((use) => !isServed(route, use, style) && doesWithout(route, use, style)).map(({ name }) => name);

/** @throws GatewayError that names the first use which none allows, or the first that none allows with the others. */
function routesAllowing(
  routes: readonly TextRoute[],
  uses: readonly UnpricedUse[],
  model: string,
  style: TextStyle | undefined,
): readonly TextRoute[] {
  const serves = (route: TextRoute): boolean => uses.every((use) => isServed(route, use, style));
  const manages = (route: TextRoute): boolean =>
    uses.every((use) => isServed(route, use, style) || doesWithout(route, use, style));
  const permits = (route: TextRoute): boolean => uses.every((use) => isAllowed(route, use, style));
  for (const suits of [serves, manages, permits]) {
    const suitable = routes.filter(suits);
    if (suitable.length > 0) return suitable;
  }
  const isRefused = (use: UnpricedUse): boolean =>
    !routes.some((route) => isAllowed(route, use, style) || doesWithout(route, use, style));
  const refused = uses.find(isRefused) ?? uses[0]!;
  throw routes.some((route) => isUntold(route, refused, style)) ? untold(refused, model) : notOffered(refused, model);
}

const untold = ({ kind, name, param }: UnpricedUse, model: string): GatewayError =>
  new GatewayError(
    'unsupported_parameter',
    `${param}: ${WHAT[kind](name)} cannot be asked of the upstreams of the model "${model}": their interface has no field for it.`,
    { param },
  );

const WHAT: Readonly<Record<UnpricedUse['kind'], (name: string) => string>> = {
  tools: (name) => `the tool "${name}", which the vendor runs,`,
  service_tiers: (name) => `the service tier "${name}"`,
  account_ids: () => "an id of the vendor's own account",
  fields: () => 'this field',
};

/** Something that costs what the gateway does not charge, asked of a model whose upstreams do not allow it. */
function notOffered({ kind, name, param, unit, isPriced }: UnpricedUse, model: string): GatewayError {
  if (unit && !isPriced)
    return new GatewayError(
      'model_not_priced',
      `${param}: ${WHAT[kind](name)} needs a price of "${unit}", which the model "${model}" has not. An operator offers it by setting one, or by listing "${name}" in allow.${kind} of an upstream of this model.`,
      { param },
    );
  return new GatewayError(
    'unsupported_parameter',
    `${param}: ${WHAT[kind](name)} is not offered for the model "${model}". An operator offers it by listing "${name}" in allow.${kind} of an upstream of this model.`,
    { param },
  );
}

/** Names a model at an upstream, at the prices of a list or of the book. */
export const placeOf = (upstream: string, model: string, priceList?: string): string =>
  JSON.stringify([upstream, model, priceList]);

const NONE: ReadonlySet<string> = new Set();

function tableOf(upstreams: readonly TextUpstream[], belowCost = NONE): Table {
  const configured = upstreams.flatMap(({ models }) => [...(models?.keys() ?? [])]);
  const models = new Set([...SPECIFIED_TEXT_MODELS.map(({ id }) => id), ...configured]);
  const routes = new Map([...models].map((model) => [model, routesOf(model, upstreams, belowCost)]));
  // Also of those that are left out, which depends on the account.
  const limits = [...models].map((model) => [model, limitsOver(model, routesOf(model, upstreams, NONE))] as const);
  return { upstreams, routes, limits: new Map(limits) };
}

function limitsOver(model: string, routes: readonly TextRoute[]): ModelLimits {
  const said = routes.map(({ upstream, traits }) => ({
    ...knownLimits(model, traits),
    ...upstream.limits?.get(model),
  }));
  if (said.length === 0) return knownLimits(model);
  return {
    maxOutputTokens: Math.min(...said.map(({ maxOutputTokens }) => maxOutputTokens)),
    contextTokens: Math.max(...said.map(({ contextTokens }) => contextTokens)),
    imageTokens: Math.max(...said.map(({ imageTokens }) => imageTokens)),
  };
}

const isLeftOut = (
  upstream: TextUpstream,
  model: string,
  belowCost: ReadonlySet<string>,
  priceList?: string,
): boolean => upstream.refusesBelowCost === true && belowCost.has(placeOf(upstream.provider.id, model, priceList));

function routesOf(
  model: string,
  upstreams: readonly TextUpstream[],
  belowCost: ReadonlySet<string>,
  priceList?: string,
): TextRoute[] {
  return upstreams.flatMap((upstream) => {
    const upstreamModel = upstream.models ? upstream.models.get(model) : model;
    if (upstreamModel === undefined || upstream.weight === 0 || isLeftOut(upstream, model, belowCost, priceList))
      return [];
    return [{ upstream, upstreamModel, traits: upstream.provider.traitsOf?.(upstreamModel) }];
  });
}
