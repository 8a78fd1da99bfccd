import { GatewayError, type TextRequest } from '#contracts';
import { textCharactersIn } from '#platform';

/** Several times what all models of a vendor read. Where an interface has no word for a part of a schema, it is written as JSON in one go. */
const CHARACTERS_MAX = 4 * 1024 * 1024;

/**
 * A translated request whose schemas are as short as its vendor would have them.
 *
 * @throws GatewayError `invalid_parameter` naming the limit.
 */
export function withShortSchemas(request: TextRequest): TextRequest {
  const { tools, format } = request;
  const schemas = [...tools.map(({ parameters }) => parameters), format.type === 'json-schema' && format.schema];
  if (textCharactersIn(schemas, CHARACTERS_MAX) > CHARACTERS_MAX)
    throw new GatewayError(
      'invalid_parameter',
      `The schemas of all tools and of the answer together may have at most ${CHARACTERS_MAX} characters.`,
    );
  return request;
}
