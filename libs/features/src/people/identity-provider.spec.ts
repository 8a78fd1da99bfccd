import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readProcessConfig } from '#runtime';
import { IdentityProvider } from './identity-provider.js';

const REDIRECT = 'https://gateway.example.com/console/api/sign-in/oidc/callback';

describe('The identity provider', () => {
  const servers: Server[] = [];
  const listen = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  /** An issuer that names itself and where the code is exchanged. */
  const issuerWith = async (tokenEndpoint: (self: string) => string, named?: string): Promise<string> => {
    const self = await listen((_request, response) => {
      const metadata = {
        issuer: named ?? self,
        authorization_endpoint: `${self}/authorize`,
        token_endpoint: tokenEndpoint(self),
        jwks_uri: `${self}/keys`,
      };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(metadata));
    });
    return self;
  };
  const providerOf = (issuer: string): IdentityProvider =>
    new IdentityProvider({
      config: readProcessConfig({ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'gateway', OIDC_CLIENT_SECRET: 'a-secret' }),
    });

  it('gets a fresh state, nonce and PKCE challenge each time', async () => {
    const provider = providerOf(await issuerWith((self) => `${self}/token`));
    const [first, second] = [await provider.begin(REDIRECT), await provider.begin(REDIRECT)];
    const asked = new URL(first.location).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      client_id: 'gateway',
      response_type: 'code',
      redirect_uri: REDIRECT,
      code_challenge_method: 'S256',
      state: first.checks.state,
      nonce: first.checks.nonce,
    });
    expect(asked.get('code_challenge')).not.toBe(first.checks.verifier);
    for (const name of ['state', 'nonce', 'verifier'] as const) {
      expect(first.checks[name]).not.toBe(second.checks[name]);
      expect(first.checks[name].length).toBeGreaterThanOrEqual(43);
    }
    await provider.onModuleDestroy();
  });

  it('refuses a sign-in whose state differs, and calls no private address that it leads to', async () => {
    const calls: string[] = [];
    const inside = await listen((request, response) => {
      calls.push(request.url ?? '');
      response.end('{}');
    });
    const provider = providerOf(await issuerWith(() => `${inside}/token`));
    const { checks } = await provider.begin(REDIRECT);
    const back = (state: string) => new URL(`${REDIRECT}?code=a-code&state=${state}`);
    expect(await provider.finish(back('another'), checks)).toBeNull();
    expect(await provider.finish(back(checks.state), checks)).toBeNull();
    expect(calls).toEqual([]);
    await provider.onModuleDestroy();
  });

  it('is refused when its issuer differs, and is asked again at the next sign-in', async () => {
    const provider = providerOf(await issuerWith((self) => `${self}/token`, 'https://elsewhere.example.com'));
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(provider.begin(REDIRECT)).rejects.toMatchObject({ code: 'upstream_error' });
    }
    await provider.onModuleDestroy();
  });

  it.each([
    [{ OIDC_ISSUER: 'https://login.example.com' }, /OIDC_CLIENT_ID must be set when OIDC_ISSUER is/],
    [{ OIDC_CLIENT_SECRET: 'secret' }, /OIDC_ISSUER must be set when OIDC_CLIENT_SECRET is/],
    [
      { OIDC_ISSUER: 'http://login.example.com', OIDC_CLIENT_ID: 'gateway', OIDC_CLIENT_SECRET: 'secret' },
      /OIDC_ISSUER must be a full https address/,
    ],
  ])('requires a complete and safe configuration: %j', (environment, problem) => {
    expect(() => readProcessConfig(environment)).toThrow(problem);
  });
});
