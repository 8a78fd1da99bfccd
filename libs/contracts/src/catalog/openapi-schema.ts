import { CATALOG, familiesAt } from './catalog.js';
import { bodySchema } from './field-schema.js';
import type { JsonObject } from '../json.js';
import type { SubmissionPath } from './media-order.js';
import type { ModelFamily } from './model-family.js';

/** The component name of a family's schema: the name of its request class. */
const schemaName = (family: ModelFamily): string => family.table.name;

const reference = (family: ModelFamily) => `#/components/schemas/${schemaName(family)}`;

/**
 * The schema of a submission body, for OpenAPI 3.1: one schema per family, distinguished by `model`.
 * It refers to `componentSchemas`.
 */
export function submissionSchema(path: SubmissionPath): JsonObject {
  const families = familiesAt(path);
  const [only, ...others] = families;
  if (only && others.length === 0) return { $ref: reference(only) };
  return {
    oneOf: families.map((family) => ({ $ref: reference(family) })),
    discriminator: {
      propertyName: 'model',
      mapping: Object.fromEntries(
        families.flatMap((family) => family.models.map((model) => [model, reference(family)] as const)),
      ),
    },
  };
}

export const componentSchemas = (): Record<string, JsonObject> =>
  Object.fromEntries(CATALOG.map((family: ModelFamily) => [schemaName(family), familySchema(family)] as const));

/** JSON Schema (2020-12) of the bodies a family accepts. Rules over several fields stand in its description. */
export function familySchema(family: ModelFamily): JsonObject {
  const rules = family.rules.map(({ message }) => `- ${message}`);
  return {
    ...bodySchema(family.table),
    title: family.models.join(', '),
    description: [family.summary, ...rules].join('\n'),
    examples: [family.example],
  };
}
