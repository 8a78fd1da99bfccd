import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

/** A real identity provider, that signs in anyone by the name they give. Their addresses are at example.com, proved. */
export interface TestIdentityProvider {
  /** What the gateway is started with. */
  readonly environment: Readonly<Record<string, string>>;
  /** Begins to answer, for a gateway at this address. */
  serve(baseUrl: string): void;
  close(): Promise<void>;
}

const CLIENT = { OIDC_CLIENT_ID: 'gateway', OIDC_CLIENT_SECRET: 'a-secret-of-the-test' };

/** Call `close` in `afterAll`. */
export async function openIdentityProvider(name: string): Promise<TestIdentityProvider> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    environment: { OIDC_ISSUER: issuer, OIDC_NAME: name, ...CLIENT },
    serve: (baseUrl) => {
      const provider = new Provider(issuer, {
        clients: [
          {
            client_id: CLIENT.OIDC_CLIENT_ID,
            client_secret: CLIENT.OIDC_CLIENT_SECRET,
            redirect_uris: [`${baseUrl}/console/api/sign-in/oidc/callback`],
          },
        ],
        claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
        findAccount: (_context, id) => ({
          accountId: id,
          claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, name: `${id} of the test` }),
        }),
      });
      const answer = provider.callback();
      server.on('request', (request, response) => void answer(request, response));
    },
    close: async () => {
      server.close().closeAllConnections();
      await once(server, 'close');
    },
  };
}
