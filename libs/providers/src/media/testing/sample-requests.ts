import * as fc from 'fast-check';
import {
  type Field,
  familyOf,
  fieldsOf,
  GatewayError,
  type JsonObject,
  type MeasuredReference,
  type MediaOrder,
  type ModelFamily,
  type ModelRequest,
} from '#contracts';

const SAMPLES = 250;
/** Enough of each mode to hold every field. */
const OF_EACH_MODE = 24;
const SEED = 20_261_122;

const known = new Map<string, readonly ModelRequest[]>();

/** Accepted requests of a model, many enough to hold every field and every mode; the same ones each time. */
export function sampleRequests(model: string): readonly ModelRequest[] {
  const sampled = known.get(model) ?? sample(catalogFamily(model), model);
  known.set(model, sampled);
  return sampled;
}

function sample(family: ModelFamily, model: string): readonly ModelRequest[] {
  const left = new Map(family.modes.map((mode) => [mode, OF_EACH_MODE]));
  const found: ModelRequest[] = [];
  for (const body of fc.sample(bodies(family.fields), { seed: SEED, numRuns: SAMPLES })) {
    const request = accepted(family, { ...body, model });
    const room = request ? (left.get(request.mode) ?? 0) : 0;
    if (!request || room === 0) continue;
    left.set(request.mode, room - 1);
    found.push(request);
  }
  return found;
}

/** What a family makes of a body; undefined when it refuses it. */
export function accepted(family: ModelFamily, body: JsonObject): ModelRequest | undefined {
  try {
    return family.read(body);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/** The order of a request, its files taken for measured. */
export function orderOf({ model, family, medium, mode, parameters }: ModelRequest, taskId = 'task_1'): MediaOrder {
  const catalogued = catalogFamily(model);
  return {
    taskId,
    model,
    family,
    medium,
    mode,
    parameters,
    references: catalogued.references(parameters).map(({ param, medium: kind, role, source }): MeasuredReference => {
      const format = { image: 'png', video: 'mp4', audio: 'mp3' } as const;
      return { param, medium: kind, role, source, format: format[kind], bytes: 4 };
    }),
    output: catalogued.output(parameters),
  };
}

/** The order of a body that the catalogue accepts. */
export function orderOfBody(body: JsonObject, taskId?: string): MediaOrder {
  return orderOf(catalogFamily(body['model'] as string).read(body), taskId);
}

export function catalogFamily(model: string): ModelFamily {
  const family = familyOf(model);
  if (!family) throw new RangeError(`${model} is in no family`);
  return family;
}

/**
 * Bodies of legal values; whether they may be combined is decided by the family. Most fields for files exclude each other, so
 * that few of them stand in one body.
 */
const bodies = (fields: readonly Field[]): fc.Arbitrary<JsonObject> => {
  const optionalFiles = fields
    .filter(({ required, kind }) => !required && FILE_KINDS.has(kind))
    .map(({ name }) => name);
  const required = fields.filter((field) => field.required || field.name === 'prompt').map(({ name }) => name);
  return fc
    .tuple(
      fc.record(Object.fromEntries(fields.map((field) => [field.name, legal(field)])), { requiredKeys: required }),
      fc.subarray(optionalFiles, { maxLength: Math.min(2, optionalFiles.length) }),
    )
    .map(([body, files]) =>
      Object.fromEntries(
        Object.entries(body).filter(([name]) => !optionalFiles.includes(name) || files.includes(name)),
      ),
    ) as fc.Arbitrary<JsonObject>;
};

const FILE_KINDS = new Set(['file', 'files', 'objects']);

function legal(field: Field): fc.Arbitrary<unknown> {
  switch (field.kind) {
    case 'choice':
      return fc.constantFrom(...field.values);
    case 'text':
      return fc.constantFrom('a heron', 'a lighthouse');
    case 'whole':
      return fc.integer({ min: field.min, max: Math.min(field.max, field.min + 16) });
    case 'flag':
      return fc.boolean();
    case 'file':
      return source(field.source.medium);
    case 'files':
      return fc.array(source(field.source.medium), {
        minLength: Math.max(1, field.min),
        maxLength: Math.min(field.max, 3),
      });
    case 'object':
      return bodies(fieldsOf(field.item));
    default:
      return fc.array(bodies(fieldsOf(field.item)), { minLength: 1, maxLength: Math.min(field.max, 2) });
  }
}

const source = (medium: string): fc.Arbitrary<string> =>
  fc.integer({ min: 1, max: 9 }).map((number) => `https://media.example.com/${medium}-${number}`);
