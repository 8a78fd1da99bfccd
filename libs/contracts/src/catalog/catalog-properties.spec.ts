import { deepStrictEqual, ok } from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import * as fc from 'fast-check';
import { CATALOG } from './catalog.js';
import { GatewayError } from '../errors.js';
import { compileTable, FieldErrors } from './field-check.js';
import { type Field, fieldsOf } from './field.js';
import type { JsonObject } from '../json.js';
import type { ModelRequest, OutputPlan } from './media-order.js';
import type { ModelFamily } from './model-family.js';
import { componentSchemas, submissionSchema } from './openapi-schema.js';
import { EXAMPLE_PRICES } from './prices.js';
import { readModelRequest } from './read-model-request.js';

/** `CATALOG_RUNS=10000` for the long form. */
const RUNS_PER_FAMILY = Number(process.env['CATALOG_RUNS'] ?? 600);
const PRICES: Readonly<Record<string, Readonly<Record<string, bigint>>>> = EXAMPLE_PRICES;

/** Bodies that look like requests of the family: mostly legal values, some near misses, some nonsense. */
const bodies = (fields: readonly Field[]): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .tuple(
      fc.record(Object.fromEntries(fields.map((field) => [field.name, valueOf(field)] as const)), {
        requiredKeys: fields.filter(({ required, name }) => required || name === 'prompt').map(({ name }) => name),
      }),
      fc.dictionary(fc.constantFrom('webhook', 'n', 'size', 'style'), fc.jsonValue(), { maxKeys: 1 }),
      fc.integer({ min: 0, max: 9 }),
    )
    .map(([body, extra, die]): Record<string, unknown> => (die === 0 ? { ...body, ...extra } : body));

const valueOf = (field: Field): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 40, arbitrary: legal(field) },
    { weight: 1, arbitrary: fc.jsonValue() },
    { weight: 1, arbitrary: fc.constant(null) },
  );

function legal(field: Field): fc.Arbitrary<unknown> {
  switch (field.kind) {
    case 'choice':
      return fc.constantFrom(...field.spellings.keys());
    case 'text':
      return fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });
    case 'whole':
      return fc.oneof(
        fc.integer({ min: field.min, max: Math.min(field.max, field.min + 20) }),
        fc.constant(field.max + 1),
      );
    case 'flag':
      return fc.boolean();
    case 'file':
      return source;
    case 'files':
      return fc.array(source, { minLength: field.min, maxLength: Math.min(field.max, 4) });
    case 'object':
      return bodies(fieldsOf(field.item));
    default:
      return fc.array(bodies(fieldsOf(field.item)), { minLength: field.min, maxLength: Math.min(field.max, 3) });
  }
}

const source = fc.oneof(
  { weight: 20, arbitrary: fc.webUrl() },
  {
    weight: 1,
    arbitrary: fc.constantFrom('data:image/png;base64,iVBORw0KGgo=', 'data:image/jpeg;base64,/9j/', 'ftp://a.b/c'),
  },
  { weight: 1, arbitrary: fc.string() },
);

const schemas = new Ajv2020({ strict: true, allowUnionTypes: true, keywords: ['discriminator', 'components'] });

function attempt(family: ModelFamily, body: unknown): ModelRequest | null {
  try {
    return readModelRequest(family.path, body);
  } catch (error) {
    if (error instanceof GatewayError && (error.status === 400 || error.status === 404)) return null;
    throw error;
  }
}

/** Encoders need even sides; a ratio can only be taken from a file that is there. */
function wrongSize({ medium, size }: OutputPlan, references: readonly string[]): string | null {
  if (size.kind === 'like-reference') return references.includes(size.param) ? null : `no ${size.param}`;
  const isOdd = medium === 'video' && (size.width % 2 !== 0 || size.height % 2 !== 0);
  return isOdd ? `odd side in ${size.width}x${size.height}` : null;
}

function expectDeliverable(family: ModelFamily, { model, parameters, mode }: ModelRequest): void {
  const output = family.output(parameters);
  const billing = family.billing(parameters);
  const references = family.references(parameters).map(({ param }) => param);
  ok(family.modes.includes(mode), mode);
  ok(output.count >= 1, `count ${output.count}`);
  deepStrictEqual(wrongSize(output, references), null);
  ok(family.variants[model]?.includes(billing.variant), billing.variant);
  ok((PRICES[model]?.[billing.variant] ?? 0n) > 0n, `no price of ${billing.variant}`);
  ok(billing.quantity >= 1, `quantity ${billing.quantity}`);
  deepStrictEqual(JSON.parse(JSON.stringify(parameters)), parameters);
}

/** What breaks a property. Its parts are compared without `expect`, which takes longer than what is tested. */
const counterexample = <Values>(numRuns: number, property: fc.IProperty<Values>): string | undefined =>
  fc.defaultReportMessage(fc.check(property, { numRuns }));

describe.each(CATALOG.map((family: ModelFamily) => [family.id, family] as const))('any body for %s', (_id, family) => {
  it('is refused with 400 or 404, or is valid by the published schema and can be made and billed', () => {
    const isValid = schemas.compile<JsonObject>({
      ...submissionSchema(family.path),
      components: { schemas: componentSchemas() },
    });
    let accepted = 0;
    const broken = counterexample(
      RUNS_PER_FAMILY,
      fc.property(bodies(family.fields), (body) => {
        const request = attempt(family, body);
        if (!request) return;
        accepted += 1;
        deepStrictEqual([isValid(body), isValid.errors], [true, null]);
        expectDeliverable(family, request);
        deepStrictEqual(attempt(family, request.parameters)?.parameters, request.parameters);
      }),
    );
    expect(broken).toBeUndefined();
    // Otherwise the property would hold for want of accepted bodies.
    expect(accepted).toBeGreaterThan(RUNS_PER_FAMILY / 100);
  });

  it('is refused without a crash when it is any JSON', () => {
    const names = fc.constantFrom(...family.fields.map(({ name }) => name));
    const broken = counterexample(
      300,
      fc.property(
        fc.dictionary(names, fc.jsonValue()),
        (body) => void attempt(family, { ...body, model: family.models[0] }),
      ),
    );
    expect(broken).toBeUndefined();
  });

  it('has the same fields wrong by plain class-validator', () => {
    const { check } = compileTable(family.table);
    const broken = counterexample(
      150,
      fc.property(bodies(family.fields), (body) => {
        const errors = new FieldErrors();
        check(body, '', errors);
        const ours = new Set(errors.list.map(({ param }) => param.replace(/[.[].*/, '')));
        const theirs = validateSync(plainToInstance(family.table, body), {
          whitelist: true,
          forbidNonWhitelisted: true,
        });
        deepStrictEqual([...ours].sort(), theirs.map(({ property }) => property).sort());
      }),
    );
    expect(broken).toBeUndefined();
  });
});
