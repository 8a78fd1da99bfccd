import { GatewayError, isJsonObject, type HostedTool, type JsonObject, type TextProtocol } from '#contracts';
import { parseBounded } from '#platform';
import type { ProtocolOptions } from './protocol-codec.js';
import type { EventData } from './server-sent-events.js';

/**
 * The tools of this vendor's own. Those of another are left out where the request is whole without them.
 *
 * @throws GatewayError `unsupported_parameter` for another vendor's tool that the request is not whole without.
 */
export function nativeHostedTools(
  tools: readonly HostedTool[],
  protocol: TextProtocol,
  { lackingTools }: ProtocolOptions,
): JsonObject[] {
  return tools.flatMap((tool) => {
    if (tool.protocol === protocol) return [tool.definition];
    if (tool.isOptional && lackingTools !== 'refuse') return [];
    throw GatewayError.unsupported(tool.param, `the tool "${tool.type}"`);
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
    // Some servers begin a body with the mark of its byte order.
    const value: unknown = parseBounded(json.startsWith('\uFEFF') ? json.slice(1) : json);
    if (isJsonObject(value)) return value as JsonObject;
  } catch {
    // Falls through to the same refusal: garbage is garbage.
  }
  throw new GatewayError('upstream_error', 'The upstream sent something that is not part of its protocol.', {
    log: `not a JSON object, ${json.length} characters`,
    isUnreadable: true,
  });
}

/** The chunks of a stream that came as one list; undefined where it is none. */
export function chunksIn(json: string): readonly JsonObject[] | undefined {
  // The mark of a byte order counts as white space.
  const text = json.trim();
  if (!text.startsWith('[')) return undefined;
  try {
    const list = parseBounded(text);
    return Array.isArray(list) && list.every(isJsonObject) ? (list as readonly JsonObject[]) : undefined;
  } catch {
    return undefined;
  }
}
