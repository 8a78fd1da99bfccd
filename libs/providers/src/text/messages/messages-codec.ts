import { GatewayError, isJsonObject, type JsonObject } from '#contracts';
import { logger, signals } from '#platform';
import type { ProtocolCodec } from '../upstream/protocol-codec.js';
import { MessagesStreamDecoder, producedInMessages, readMessagesReply } from './read-messages-reply.js';
import { writeMessagesRequest } from './write-messages-request.js';

/** The version sent when the caller's own request did not bring one. */
const INTERFACE_VERSION = '2023-06-01';

export const messagesCodec: ProtocolCodec = {
  protocol: 'messages',
  path: () => '/messages',
  headers: (key) => ({ 'anthropic-version': INTERFACE_VERSION, ...(key === undefined ? {} : { 'x-api-key': key }) }),
  write: writeMessagesRequest,
  read: readMessagesReply,
  decoder: (keep) => new MessagesStreamDecoder(keep),
  continues: true,
  producedReader: () => producedInMessages,
  marks: { decode: /"(?:message_start|content_block_stop|message_delta|message_stop|error)"/ },
};

const log = logger('text');

/** What the vendor says where thinking was made in another conversation than the one in front of it. */
const OTHER_CONVERSATION = /different conversation/i;

/** Without it the field is refused. */
const BETA = 'thinking-binding-controls-2026-08-01';

/** Whether a messages vendor refused thinking that does not fit what comes before it. */
export const refusesPrefix = (error: unknown): boolean =>
  error instanceof GatewayError && OTHER_CONVERSATION.test(error.publicMessage);

const isThinking = ({ thinking }: JsonObject): boolean => isJsonObject(thinking) && thinking['type'] !== 'disabled';

/** Whether the caller decides what becomes of such thinking. */
export function decidesBinding({ thinking }: JsonObject): boolean {
  const binding = isJsonObject(thinking) ? thinking['block_binding'] : undefined;
  return isJsonObject(binding) && binding['prefix_mismatch_behavior'] != null;
}

/**
 * The body with leave for the vendor to drop such thinking itself, instead of refusing the request: it alone knows which it is. The
 * same body where no thinking is asked for, or where the caller has decided. It is sent with the headers of `withBindingBeta`.
 */
export function lettingDrop(body: JsonObject): JsonObject {
  const { thinking } = body;
  if (!isThinking(body) || decidesBinding(body) || !isJsonObject(thinking)) return body;
  const sent = thinking['block_binding'];
  const binding = { ...(isJsonObject(sent) && sent), prefix_mismatch_behavior: 'drop_block' };
  return { ...body, thinking: { ...thinking, block_binding: binding } };
}

export const withBindingBeta = (headers: Record<string, string>): Record<string, string> => {
  const { 'anthropic-beta': sent } = headers;
  return { ...headers, 'anthropic-beta': sent === undefined ? BETA : `${sent},${BETA}` };
};

/** Why a vendor may have dropped thinking. */
const REASONS: ReadonlySet<string> = new Set([
  'model_binding_mismatch',
  'prefix_binding_mismatch',
  'organization_binding_mismatch',
  'end_user_binding_mismatch',
]);

/** A cheap sign that a reply tells of dropped thinking. */
const TRANSFORMED = '"input_transformations"';

/** Counts what the beginning of a reply says of dropped thinking. The operator hears where two accounts have one name. */
export function noteDropped(upstream: string, said: string): void {
  const at = said.indexOf(TRANSFORMED);
  if (at === -1) return;
  for (const [, reason = ''] of said.slice(at).matchAll(/"reason"\s*:\s*"(\w{1,64})"/g)) {
    if (!REASONS.has(reason)) continue;
    signals.proofs.inc({ upstream, outcome: 'dropped', reason });
    if (reason.startsWith('organization')) log.warn('proofs.of_another_organization', { upstream });
  }
}
