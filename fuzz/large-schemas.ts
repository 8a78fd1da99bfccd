import { chat, type LargeCase, MODEL_OVER } from './large-requests.js';

const named = <Schema>(count: number, schemaOf: (place: number) => Schema): Record<string, Schema> =>
  Object.fromEntries(Array.from({ length: count }, (_, place) => [`d${place}`, schemaOf(place)]));

const WORD = { type: 'string' };
const wide = (fields: number) => ({ w: { type: 'object', properties: named(fields, () => WORD) } });
const references = (count: number) => Array.from({ length: count }, () => ({ $ref: '#/$defs/w' }));

/** Schemas that say far more than they hold, by what they refer to: of one tool, and of many. */
const SCHEMAS: Readonly<Record<string, () => readonly object[]>> = {
  'of one wide object many times': () => [{ type: 'object', $defs: wide(900), allOf: references(100) }],
  'of 230 tools, each of one object many times': () =>
    Array.from({ length: 230 }, () => ({ type: 'object', $defs: wide(40), allOf: references(40) })),
  'of 230 tools, each of one object or others': () =>
    Array.from({ length: 230 }, () => ({ type: 'object', $defs: wide(40), anyOf: references(40) })),
  'that refer to one long text': () => [
    {
      type: 'object',
      $defs: { w: { type: 'string', description: 'x'.repeat(500_000) } },
      properties: named(900, () => ({ $ref: '#/$defs/w' })),
    },
  ],
  'of 30 tools, each referring to one long text': () =>
    Array.from({ length: 30 }, () => ({
      type: 'object',
      $defs: { w: { type: 'string', description: 'x'.repeat(100_000) } },
      properties: named(300, () => ({ $ref: '#/$defs/w' })),
    })),
  'that all refer to each other': () => {
    const many = 150;
    const all = named(many, (place) => ({ $ref: `#/$defs/d${place}` }));
    return [{ type: 'object', $defs: named(many, () => ({ type: 'object', properties: all })), properties: all }];
  },
};

const PROTOCOLS = ['responses', 'chat', 'messages', 'gemini', 'sandbox'] as const;
const toolsOf = (schemas: readonly object[]) =>
  schemas.map((parameters, place) => ({ type: 'function', function: { name: `f${place}_`, parameters } }));

/** Short schemas that take long to write, or are long once they are written. */
export const LARGE_SCHEMAS: readonly LargeCase[] = PROTOCOLS.flatMap((protocol) =>
  Object.entries(SCHEMAS).flatMap(([what, schemas]) => [
    chat(
      `schemas of tools ${what} to ${protocol}`,
      MODEL_OVER[protocol],
      () => Array.from(schemas(), (_, place) => `f${place}_`).join(' '),
      () => ({ tools: toolsOf(schemas()) }),
    ),
    chat(
      `a schema of the answer ${what} to ${protocol}`,
      MODEL_OVER[protocol],
      () => 'hello',
      () => ({ response_format: { type: 'json_schema', json_schema: { name: 'f', schema: schemas()[0] } } }),
    ),
  ]),
);
