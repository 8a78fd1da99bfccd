import { withoutSecretsIn } from './hidden-secrets.js';
import type { Credentials } from './credentials.js';
import type { VendorReply, VendorRequest } from './media-codec.js';
import type { ExchangeLimits, VendorHttp } from './vendor-http.js';

/** Authorized connections to one upstream. */
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

  close(): Promise<void> {
    return this.http.close();
  }
}
