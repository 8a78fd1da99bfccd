import type { JsonObject, JsonValue, ModelRequest } from '#contracts';
import { NotMakeable, type MediaCodec, type VendorRequest } from '../http/media-codec.js';
import { MEDIA_TRAITS, mediaTraitsOf, refuseBeyond } from '../traits/media-traits.js';
import { accepted, catalogFamily, orderOf, sampleRequests } from './sample-requests.js';

/** The effect of a field: some value of it reached the vendor, or was refused by name, or neither. */
export interface FieldEffect {
  readonly sent: boolean;
  /** Why orders with the field are refused, each sentence once. */
  readonly refused: readonly string[];
}

/** What each field of a model changes in what a protocol sends: found by trying. Fields with one legal value say nothing. */
export function fieldEffects(codec: MediaCodec, model: string): ReadonlyMap<string, FieldEffect> {
  const family = catalogFamily(model);
  const requests = sampleRequests(model);
  return new Map(
    family.fields
      .filter(({ name }) => name !== 'model')
      .flatMap(({ name }) => {
        const values = distinct(requests.map(({ parameters }) => parameters[name]));
        if (values.filter((value) => value !== undefined).length < 2) return [];
        const found = { sent: false, refused: new Set<string>() };
        for (const request of requests) tryValues(codec, request, name, values, found);
        return [[name, { sent: found.sent, refused: [...found.refused].toSorted() }] as const];
      }),
  );
}

/** Everything that is sent for a request, or why it is not. */
export function written(
  codec: MediaCodec,
  request: ModelRequest,
): { body: string; headers: VendorRequest['headers'] } | { cannot: NotMakeable } {
  const order = orderOf(request);
  const sources = new Map(order.references.map(({ param, source }) => [param, source]));
  const name = codec.models.get(request.model) ?? request.model;
  const ticket = { upstream: 'u', model: name };
  try {
    refuseBeyond(mediaTraitsOf(MEDIA_TRAITS, { protocol: codec.protocol, model: request.model, name }), order);
    const sent = codec.writeStart(order, ticket, (param) => sources.get(param) ?? '');
    return { body: JSON.stringify([sent.path, sent.body]), headers: sent.headers };
  } catch (error) {
    if (error instanceof NotMakeable) return { cannot: error };
    throw error;
  }
}

const MOST_VALUES = 8;

const distinct = (values: readonly (JsonValue | undefined)[]): readonly (JsonValue | undefined)[] =>
  [...new Map(values.map((value) => [JSON.stringify(value), value])).values()].slice(0, MOST_VALUES);

/** How many requests of a model are changed in each field: two values that are one to a vendor are so in most. */
const MOST_REQUESTS = 12;
/** Of these the larger counts: another value of the smaller changes nothing. */
const LARGER_COUNTS = new Set(['n', 'sequential_image_generation_options']);

/** Fields of which two values are sent as the same although no notice tells the caller so. */
export function unnoticedLikes(codec: MediaCodec, model: string): readonly string[] {
  const family = catalogFamily(model);
  const requests = sampleRequests(model);
  const found = family.fields
    .filter(({ name }) => name !== 'model' && !(family.id === 'kappa' && LARGER_COUNTS.has(name)))
    .flatMap(({ name }) => {
      const values = distinct(requests.map(({ parameters }) => parameters[name])).filter(
        (value) => value !== undefined,
      );
      return requests.slice(0, MOST_REQUESTS).flatMap((request) => {
        const sent = new Set<string>();
        return values.flatMap((value) => {
          const changed = accepted(family, { ...request.parameters, [name]: value });
          const after = changed && written(codec, changed);
          if (!changed || !after || 'cannot' in after || changed.notices.length > 0) return [];
          // The family itself made another value of it.
          if (JSON.stringify(changed.parameters[name]) !== JSON.stringify(value)) return [];
          const isAlike = sent.has(after.body);
          sent.add(after.body);
          return isAlike ? [`${codec.protocol}: ${name} of ${model}, ${changed.mode}`] : [];
        });
      });
    });
  return [...new Set(found)];
}

function tryValues(
  codec: MediaCodec,
  request: ModelRequest,
  name: string,
  values: readonly (JsonValue | undefined)[],
  found: { sent: boolean; refused: Set<string> },
): void {
  const before = written(codec, request);
  if ('cannot' in before && before.cannot.param === name) found.refused.add(before.cannot.message);
  if (found.sent || 'cannot' in before) return;
  for (const value of values) {
    const { [name]: _replaced, ...rest } = request.parameters;
    const body: JsonObject = value === undefined ? rest : { ...rest, [name]: value };
    const changed = accepted(catalogFamily(request.model), body);
    if (!changed || JSON.stringify(changed.parameters) === JSON.stringify(request.parameters)) continue;
    const after = written(codec, changed);
    if ('body' in after && after.body !== before.body) found.sent = true;
  }
}
