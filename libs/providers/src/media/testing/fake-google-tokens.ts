import { once } from 'node:events';
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { OAuth2Client } from 'google-auth-library';

const KEY_ID = 'key-1';
const EMAIL = 'videos@p-1.iam.gserviceaccount.com';

/** Google's token endpoint for one service account. The official library judges every assertion. */
export class FakeGoogleTokens {
  /** The claims of every assertion that was accepted. */
  readonly accepted: object[] = [];
  /** What is answered instead. */
  refusal: { readonly status: number; readonly body: object } | undefined;
  /** How often a token was requested. */
  asked = 0;
  /** How long a token holds, in seconds. */
  seconds = 3_600;
  private readonly keys = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  private readonly server: Server;

  private constructor(private readonly tokens: readonly string[]) {
    this.server = createServer((request, response) => {
      void text(request)
        .then((form) => this.answer(form))
        .then(({ status, body }) => {
          response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
        });
    });
  }

  /** @param tokens what is given out, one after the other; the last repeatedly. */
  static async start(...tokens: readonly string[]): Promise<FakeGoogleTokens> {
    const fake = new FakeGoogleTokens(tokens);
    fake.server.listen(0, '127.0.0.1');
    await once(fake.server, 'listening');
    return fake;
  }

  get uri(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/token`;
  }

  /** The key file, in base64. */
  get key(): string {
    const file = {
      type: 'service_account',
      project_id: 'p-1',
      private_key_id: KEY_ID,
      private_key: this.keys.privateKey.export({ type: 'pkcs8', format: 'pem' }),
      client_email: EMAIL,
      token_uri: this.uri,
    };
    return Buffer.from(JSON.stringify(file)).toString('base64');
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async answer(form: string): Promise<{ readonly status: number; readonly body: object }> {
    this.asked += 1;
    if (this.refusal) return this.refusal;
    const fields = new URLSearchParams(form);
    if (fields.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer')
      return { status: 400, body: { error: 'unsupported_grant_type' } };
    const pem = this.keys.publicKey.export({ type: 'spki', format: 'pem' }) as string;
    try {
      const ticket = await new OAuth2Client().verifySignedJwtWithCertsAsync(
        fields.get('assertion') ?? '',
        { [KEY_ID]: pem },
        this.uri,
        [EMAIL],
      );
      this.accepted.push(ticket.getPayload() ?? {});
    } catch (error) {
      return { status: 400, body: { error: 'invalid_grant', error_description: (error as Error).message } };
    }
    const index = Math.min(this.accepted.length, this.tokens.length) - 1;
    return { status: 200, body: { access_token: this.tokens[index], expires_in: this.seconds, token_type: 'Bearer' } };
  }
}
