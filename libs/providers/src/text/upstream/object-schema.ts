import type { JsonObject } from '#contracts';

/** The arguments of a function as a schema that says it is of an object, which most vendors insist on. */
export const objectSchema = (parameters: JsonObject = { properties: {} }): JsonObject =>
  'type' in parameters ? parameters : { type: 'object', ...parameters };
