import { isJsonObject, type JsonValue } from '#contracts';
import type { VendorReply } from './media-codec.js';

const HIDDEN = '[hidden]';
/** What is shorter is no secret, and stands in many texts by chance. */
const LEAST_LENGTH = 8;

/**
 * The reply without the secrets that were sent for it: a vendor or a proxy may repeat them in any part, and parts of replies
 * become handles, codes and addresses that are stored and shown. A reply without one is searched and not copied.
 */
export function withoutSecretsIn(reply: VendorReply, secrets: readonly string[]): VendorReply {
  const long = secrets.filter(({ length }) => length >= LEAST_LENGTH);
  const holdsOne = (value: JsonValue): boolean => {
    if (typeof value === 'string') return long.some((secret) => value.includes(secret));
    if (Array.isArray(value)) return value.some(holdsOne);
    return isJsonObject(value) && Object.entries(value).some(([name, part]) => holdsOne(name) || holdsOne(part));
  };
  if (!holdsOne(reply.headers as JsonValue) && !holdsOne(reply.body ?? null)) return reply;
  const hide = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return long.reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), value);
    if (Array.isArray(value)) return value.map(hide);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [hide(name), hide(part)]));
  };
  return {
    status: reply.status,
    headers: hide(reply.headers as JsonValue) as VendorReply['headers'],
    body: reply.body && hide(reply.body),
  };
}
