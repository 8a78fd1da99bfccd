import { type ErrorCode, ERRORS, type JsonObject } from '#contracts';

/** One operation as the document's authors write it; the rest follows from it and from its route. */
export interface OperationText {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** What names in the path mean, where there is more to say than the name does. */
  readonly path?: Readonly<Record<string, string>>;
  /** In the query and headers. */
  readonly parameters?: readonly JsonObject[];
  readonly body?: JsonObject;
  /** Schema of a form with a file, instead of a JSON body. */
  readonly form?: JsonObject;
  /** Schema of the JSON answer, or the whole answer object when it is of another type. */
  readonly answer: JsonObject;
  readonly errors?: readonly ErrorCode[];
}

export const operationsOf = <Id extends string>(
  tag: string,
  texts: Readonly<Record<Id, Omit<OperationText, 'id' | 'tag'>>>,
): Readonly<Record<Id, OperationText>> =>
  Object.fromEntries(
    Object.entries<Omit<OperationText, 'id' | 'tag'>>(texts).map(([id, text]) => [id, { id, tag, ...text }]),
  ) as Record<Id, OperationText>;

/** What can go wrong on every path that asks for a key. */
const COMMON_ERRORS: readonly ErrorCode[] = ['invalid_api_key', 'rate_limit_exceeded', 'internal_error'];

/** Writes an operation in full: parameters, body, answer and an answer for each status that its errors have. */
export function operation(text: OperationText, path: string, access: RouteAccess): JsonObject {
  const inPath = [...path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => pathParameter(name, text.path?.[name]));
  const errors = [...(access === 'open' ? [] : COMMON_ERRORS), ...(text.errors ?? [])];
  return {
    operationId: text.id,
    tags: [text.tag],
    summary: text.summary,
    ...(text.description !== undefined && { description: text.description }),
    ...((text.parameters ?? inPath[0]) && { parameters: [...inPath, ...(text.parameters ?? [])] }),
    ...(text.body && { requestBody: { required: true, content: { 'application/json': { schema: text.body } } } }),
    ...(text.form && { requestBody: { required: true, content: { 'multipart/form-data': { schema: text.form } } } }),
    responses: { 200: answerOf(text.answer), ...errorAnswers(errors) },
    ...(access === 'open' && { security: [] }),
    ...(access === 'operator' && { security: [{ adminToken: [] }] }),
  };
}

const answerOf = (answer: JsonObject): JsonObject =>
  'content' in answer ? answer : { description: 'Done.', content: { 'application/json': { schema: answer } } };

function errorAnswers(codes: readonly ErrorCode[]): JsonObject {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(ERRORS[code].status, [...(byStatus.get(ERRORS[code].status) ?? []), code]);
  const statuses = [...byStatus].sort(([left], [right]) => left - right);
  return Object.fromEntries(
    statuses.map(([status, names]) => [
      String(status),
      {
        description: `\`error.code\` is ${names.map((name) => `\`${name}\``).join(' or ')}.`,
        content: { 'application/json': { schema: schemaOf('Error') } },
      },
    ]),
  );
}

export const schemaOf = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

export const envelopeSchema = (data: JsonObject): JsonObject => ({
  type: 'object',
  required: ['code', 'data'],
  properties: { code: { const: 200 }, data },
});

/** Of names in paths that do not say it. */
const NAMED_IN_PATH: Readonly<Record<string, string>> = {
  id: 'The id of the response.',
  key_id: 'The id of the key, not the key itself.',
  entry_id: 'The id of the logged request.',
  list_id: 'The id of the price list.',
  model: 'The identifier, exactly.',
};

const idOf = (name: string): string => `The id of the ${name.replace(/_id$/, '').replaceAll('_', ' ')}.`;

const pathParameter = (name: string, description = NAMED_IN_PATH[name] ?? idOf(name)): JsonObject => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});

/** An optional parameter in the query. */
export const inQuery = (name: string, description: string, schema: JsonObject): JsonObject => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
});

export const inHeader = (name: string, description: string, schema: JsonObject = { type: 'string' }): JsonObject => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
});

/** Who may call a route: holders of an API key, operators by ADMIN_TOKEN, people by their session in the console, or anyone. */
export type RouteAccess = 'key' | 'operator' | 'session' | 'open';
