import { valueWithoutSecrets } from '../../hidden-secrets.js';
import type { Credentials, VendorReply, VendorRequest } from './media-codec.js';
import type { ExchangeLimits, VendorHttp } from './vendor-http.js';

/** What is shorter is not a secret, and appears in many texts by coincidence. */
const LEAST_LENGTH = 8;

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
      return valueWithoutSecrets(
        reply,
        this.credentials.secrets().filter(({ length }) => length >= LEAST_LENGTH),
      );
    };
    const reply = await send();
    return this.credentials.renewedAfter?.(reply) === true ? send() : reply;
  }

  secrets(): readonly string[] {
    return [...this.credentials.secrets(), this.host];
  }
}
