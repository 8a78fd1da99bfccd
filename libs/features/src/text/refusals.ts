import { checkBody, GatewayError } from '#contracts';

/** A part of a request that only an upstream of the request's own style could honour. */
export function cannotTranslate(param: string, what: string): GatewayError {
  return new GatewayError(
    'unsupported_parameter',
    `${param}: ${what} is not supported by the upstream of this model.`,
    {
      param,
    },
  );
}

/**
 * Checks a body against the class of its style.
 *
 * @throws GatewayError that lists every broken rule; `param` and the message are those of the first.
 */
export function checkedBody<T>(type: abstract new () => T, body: unknown): T {
  const [first, ...others] = checkBody(type, body);
  if (first) throw GatewayError.fromFields([first, ...others]);
  return body as T;
}
