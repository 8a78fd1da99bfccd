import type { JsonObject, OutputFormat } from '#contracts';

/** The schema of an answer with what the answer is for, for protocols that have no field of their own for that. */
export function describedSchema({ schema, description }: Extract<OutputFormat, { type: 'json-schema' }>): JsonObject {
  return description === undefined || schema['description'] !== undefined ? schema : { description, ...schema };
}
