import { familyOf, type JsonObject, type MediaOrder, type ModelFamily, type VendorCost } from '#contracts';
import type { ConfiguredMediaUpstream } from '../open-media-upstreams.js';

/** An order that costs little, and what it is configured to cost. */
export interface CheapOrder {
  readonly order: MediaOrder;
  readonly cost: VendorCost | undefined;
}

/** Image for models that make nothing from a text alone. */
const IMAGE = 'https://upload.wikimedia.org/wikipedia/commons/thumb/a/a9/Example.jpg/480px-Example.jpg';
/** Shorter videos are not made by every vendor. */
const LEAST_SECONDS = 4;
const PROMPT = 'A paper boat on a calm lake.';

/** One small order for each model that an upstream makes from a text, or from a public image. */
export function cheapestOrders({ upstream, models }: ConfiguredMediaUpstream, only?: string): CheapOrder[] {
  return [...(models ?? [])]
    .filter((model) => only === undefined || model === only)
    .flatMap((model) => {
      const family = familyOf(model);
      const orders = family ? smallOrders(family, model) : [];
      return orders
        .flatMap((order) => {
          const plan = upstream.plan(order);
          return 'cannot' in plan ? [] : [{ order, cost: plan.cost }];
        })
        .slice(0, 1);
    });
}

/** What the family accepts, least first. */
const smallOrders = (family: ModelFamily, model: string): MediaOrder[] =>
  ordersOf(family, model, bodiesFor(family, model));

/** The same of every way of sending images, each changed. */
export function modelOrders(
  family: ModelFamily,
  model: string,
  change: (body: JsonObject) => JsonObject,
): MediaOrder[] {
  const [small = {}] = bodiesFor(family, model);
  const frames = [
    { url: IMAGE, role: 'first_frame' },
    { url: IMAGE, role: 'last_frame' },
  ];
  const withImages = [
    { image_with_roles: frames.slice(0, 1) },
    { image_with_roles: frames },
    { image_urls: [IMAGE, IMAGE] },
    { first_frame_image: IMAGE, last_frame_image: IMAGE },
  ].map((images) => ({ ...small, ...images }));
  return ordersOf(family, model, [...bodiesFor(family, model), ...withImages].map(change));
}

function ordersOf(family: ModelFamily, model: string, bodies: readonly JsonObject[]): MediaOrder[] {
  return bodies.flatMap((body) => {
    try {
      const { mode, medium, parameters } = family.read(body);
      const taskId = `smoke_${Date.now().toString(36)}_${model}`;
      const output = family.output(parameters);
      const references = referencesOf(family, parameters);
      return [{ taskId, model, family: family.id, medium, mode, parameters, references, output }];
    } catch {
      // Another body has more in it.
      return [];
    }
  });
}

function bodiesFor(family: ModelFamily, model: string): JsonObject[] {
  const least = family.fields.flatMap((field) => {
    if (field.name === 'duration' && field.kind === 'whole') return [[field.name, Math.max(field.min, LEAST_SECONDS)]];
    const counts = field.name === 'duration' || field.name === 'resolution';
    return counts && field.kind === 'choice' && field.values[0] !== undefined ? [[field.name, field.values[0]]] : [];
  });
  const small: JsonObject = { model, prompt: PROMPT, ...(Object.fromEntries(least) as JsonObject) };
  return [
    small,
    { ...small, image_urls: [IMAGE] },
    { ...small, first_frame_image: IMAGE },
    { ...family.example, model },
  ];
}

const referencesOf = (family: ModelFamily, parameters: JsonObject): MediaOrder['references'] =>
  family
    .references(parameters)
    .map(({ param, medium, role, source }) => ({ param, medium, role, source, format: 'jpeg', bytes: 0 }));
