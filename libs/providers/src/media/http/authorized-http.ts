import { isJsonObject, type JsonValue } from '#contracts';
import type { Credentials, VendorReply, VendorRequest } from './media-codec.js';
import type { ExchangeLimits, VendorHttp } from './vendor-http.js';

const HIDDEN = '[hidden]';
/** What is shorter is not a secret, and appears in many texts by coincidence. */
const LEAST_LENGTH = 8;

/**
 * The reply without the secrets that were sent for it: a vendor or a proxy may repeat them in any part, and parts of replies
 * become handles, codes and addresses that are stored and shown. A reply without one is searched and not copied.
 */
function withoutSecretsIn(reply: VendorReply, secrets: readonly string[]): VendorReply {
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

export class AuthorizedHttp {
  constructor(
    private readonly http: VendorHttp,
    private readonly credentials: Credentials,
  ) {}

  get host(): string {
    return this.http.host;
  }

  /** As `VendorHttp.exchange`. What was refused for stale headers was not taken, so that it is sent once more. */
  async exchange(request: VendorRequest, limits: ExchangeLimits): Promise<VendorReply> {
    const send = async (): Promise<VendorReply> => {
      const reply = await this.http.exchange(request, await this.credentials.headers(limits.signal), limits);
      return withoutSecretsIn(reply, this.credentials.secrets());
    };
    const reply = await send();
    return this.credentials.renewedAfter?.(reply) === true ? send() : reply;
  }

  secrets(): readonly string[] {
    return [...this.credentials.secrets(), this.host];
  }
}
