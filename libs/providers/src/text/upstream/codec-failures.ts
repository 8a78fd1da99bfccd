import { GatewayError, isJsonObject, type HostedTool, type JsonObject, type TextProtocol } from '#contracts';
import { errorReasons } from './refused-by-upstream.js';
import type { EventData } from './server-sent-events.js';

/** A part of a request that this protocol has no words for. */
export function cannotSay(param: string, what: string): GatewayError {
  return new GatewayError(
    'unsupported_parameter',
    `${param}: ${what} is not supported by the upstream of this model.`,
    {
      param,
    },
  );
}

/** @throws GatewayError `unsupported_parameter` for a tool that another vendor runs. */
export function nativeHostedTools(tools: readonly HostedTool[], protocol: TextProtocol): JsonObject[] {
  return tools.map((tool) => {
    if (tool.protocol === protocol) return tool.definition;
    throw cannotSay(tool.param, `the tool "${tool.type}"`);
  });
}

/** The reply ended before the protocol's own end. */
export const brokenOff = (): GatewayError =>
  new GatewayError('upstream_error', 'The upstream broke off before its reply was complete.');

/**
 * Parses what should be a JSON object of the upstream's.
 *
 * @throws GatewayError `upstream_error` when it is not.
 */
export function parseReply(json: EventData): JsonObject {
  try {
    const value: unknown = JSON.parse(json);
    if (isJsonObject(value)) return value as JsonObject;
  } catch {
    // Falls through to the same refusal: garbage is garbage.
  }
  throw new GatewayError('upstream_error', 'The upstream sent something that is not part of its protocol.', {
    log: `not a JSON object, ${json.length} characters`,
  });
}

/** A failure that the upstream reports inside a reply it had begun. */
export function reportedFailure(error: unknown): GatewayError {
  const details = isJsonObject(error) ? error : {};
  const type = errorReasons(details).join(' ');
  const log = `upstream reported: ${type}`;
  if (/overloaded|UNAVAILABLE/.test(type))
    return new GatewayError('overloaded', 'The upstream is overloaded.', { log });
  if (/rate_limit|RESOURCE_EXHAUSTED/.test(type))
    return new GatewayError('rate_limit_exceeded', 'The upstream is limiting its rate.', { log });
  if (/timeout|DEADLINE/.test(type))
    return new GatewayError('upstream_timeout', 'The upstream took too long.', { log });
  return new GatewayError('upstream_error', 'The upstream failed while it was replying.', { log });
}
