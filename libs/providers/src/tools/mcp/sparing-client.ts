import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { AnySchema, SchemaOutput } from '@modelcontextprotocol/sdk/server/zod-compat.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { ClientRequest } from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchemaValidatorResult } from '@modelcontextprotocol/sdk/validation/types.js';
import type { JsonObject } from '#contracts';
import { VERSION } from '#platform';
import { McpFailure } from './mcp-failure.js';

/** The most values, on all levels, of an answer that the client library checks: what a server says of itself has some dozens. */
const MAX_VALUES = 2_000;

export interface SparingClient extends Client {
  /** The result as the server sent it, of which nothing is checked but that it is an object. */
  ask(request: ClientRequest, options: RequestOptions): Promise<JsonObject>;
}

/**
 * The client library checks each value of an answer, and notes of each wrong one how it misses every form that it could
 * have had: a few megabytes of `{}` would take all memory of the process. So it is given small answers alone to check.
 */
export async function createSparingClient(): Promise<SparingClient> {
  const [{ Client: Base }, { ResultSchema }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  class Sparing extends Base implements SparingClient {
    async ask(asked: ClientRequest, options: RequestOptions): Promise<JsonObject> {
      return (await super.request(asked, ResultSchema, options)) as JsonObject;
    }

    override async request<Schema extends AnySchema>(
      asked: ClientRequest,
      schema: Schema,
      options?: RequestOptions,
    ): Promise<SchemaOutput<Schema>> {
      const sent = await super.request(asked, ResultSchema, options);
      if (hasMoreValues(sent, MAX_VALUES)) throw new McpFailure(`it says more than ${MAX_VALUES} values about itself`);
      return (schema as unknown as { parse(value: unknown): SchemaOutput<Schema> }).parse(sent);
    }
  }
  return new Sparing({ name: 'generation-gateway', version: VERSION }, { jsonSchemaValidator: ACCEPTING });
}

/** Whether there are more values than so many, on all levels together. */
function hasMoreValues(sent: unknown, most: number): boolean {
  const open = [sent];
  for (let count = 1; open.length > 0; count += 1) {
    const value = open.pop();
    const inner: unknown[] = typeof value === 'object' && value !== null ? Object.values(value) : [];
    if (count + open.length + inner.length > most) return true;
    open.push(...inner);
  }
  return false;
}

/** What a tool returns goes to a model, which no schema of the server's has to protect: checking it would run the schema. */
const ACCEPTING = {
  getValidator:
    <T>() =>
    (input: unknown): JsonSchemaValidatorResult<T> => ({ valid: true, data: input as T, errorMessage: undefined }),
};
