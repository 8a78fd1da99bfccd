import { checkBody, GatewayError, type UnpricedUse } from '#contracts';

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

const WHAT: Readonly<Record<UnpricedUse['kind'], (name: string) => string>> = {
  tools: (name) => `the tool "${name}", which the vendor runs,`,
  service_tiers: (name) => `the service tier "${name}"`,
  account_ids: () => "an id of the vendor's own account",
  fields: () => 'this field',
};

/** Something that costs what the gateway does not charge, asked of a model whose upstreams do not allow it. */
export function notOffered({ kind, name, param }: UnpricedUse, model: string): GatewayError {
  return new GatewayError(
    'unsupported_parameter',
    `${param}: ${WHAT[kind](name)} is not offered for the model "${model}". An operator offers it by listing "${name}" in allow.${kind} of an upstream of this model.`,
    { param },
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
