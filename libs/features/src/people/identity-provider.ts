import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import * as oidc from 'openid-client';
import { GatewayError } from '#contracts';
import { Database, logger, NameResolver, SafeFetcher } from '#platform';
import { PLATFORM, type Platform } from '#runtime';

const log = logger('console');

const SCOPE = 'openid email profile';
const TIMEOUT_SECONDS = 10;
const ANSWER_BYTES_MAX = 512 * 1024;
/** The provider's keys and addresses are read again after so long, in milliseconds. */
const DISCOVERED_MS = 3_600_000;

/** What the browser brings back, sealed, when the provider sends it home. */
export interface AuthorizationChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface ProvedIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string | null;
  /** Null unless the provider has proved that it is theirs. */
  readonly email: string | null;
}

/**
 * The identity provider of OIDC_ISSUER: authorization code with PKCE, `state` and `nonce`. It is called by the rules of
 * every call to elsewhere; operators name its host, so that may be a private one, and what it leads to may not.
 */
@Injectable()
export class IdentityProvider implements OnModuleDestroy {
  private readonly fetcher: SafeFetcher | null;
  private known: { readonly configuration: Promise<oidc.Configuration>; readonly untilMs: number } | null = null;

  constructor(@Inject(PLATFORM) private readonly platform: Pick<Platform, 'config'>) {
    const { singleSignOn, names } = platform.config;
    const issuer = singleSignOn.OIDC_ISSUER;
    const resolver = new NameResolver({ servers: names.OUTBOUND_NAME_SERVERS });
    this.fetcher =
      issuer === undefined
        ? null
        : new SafeFetcher({
            allow: [hostAndPort(new URL(issuer))],
            maxRedirects: 0,
            resolve: (host, share) => resolver.resolve(host, share),
          });
  }

  /** What its button says; null when there is none. */
  get name(): string | null {
    const { OIDC_ISSUER, OIDC_NAME } = this.platform.config.singleSignOn;
    return OIDC_ISSUER === undefined ? null : OIDC_NAME;
  }

  /** Where the browser goes to sign in, and what must fit when it comes back. @throws GatewayError `upstream_error`. */
  async begin(redirectUri: string): Promise<{ readonly location: string; readonly checks: AuthorizationChecks }> {
    const configuration = await this.configuration();
    const checks = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    };
    const location = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: SCOPE,
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(checks.verifier),
      code_challenge_method: 'S256',
    });
    return { location: location.href, checks };
  }

  /** The identity that came back; null when the provider or the checks refuse it. @throws GatewayError `upstream_error`. */
  async finish(cameBackTo: URL, { state, nonce, verifier }: AuthorizationChecks): Promise<ProvedIdentity | null> {
    const configuration = await this.configuration();
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, cameBackTo, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (!claims) return null;
      const allClaims =
        claims['email'] === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
          ? { ...claims, ...(await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub)) }
          : claims;
      return identityOf(claims.iss, claims.sub, allClaims);
    } catch (error) {
      log.info('console.single_sign_on_refused', { error });
      return null;
    }
  }

  async onModuleDestroy(): Promise<void> {
    await this.fetcher?.close();
  }

  private configuration(): Promise<oidc.Configuration> {
    if (this.known && this.known.untilMs > performance.now()) return this.known.configuration;
    const configuration = this.discover();
    this.known = { configuration, untilMs: performance.now() + DISCOVERED_MS };
    // One that cannot be reached now is asked again by the next who comes.
    configuration.catch(() => (this.known = null));
    return configuration;
  }

  private async discover(): Promise<oidc.Configuration> {
    const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = this.platform.config.singleSignOn;
    const { fetcher } = this;
    if (!fetcher || OIDC_ISSUER === undefined || OIDC_CLIENT_ID === undefined || OIDC_CLIENT_SECRET === undefined) {
      throw new GatewayError('not_found', 'This gateway has no identity provider: OIDC_ISSUER is not set.');
    }
    const issuer = new URL(OIDC_ISSUER);
    try {
      return await oidc.discovery(issuer, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, secretAs(OIDC_CLIENT_SECRET), {
        timeout: TIMEOUT_SECONDS,
        [oidc.customFetch]: (url, options) => fetchSafely(fetcher, url, options),
        // The configuration lets plain HTTP through on this machine alone.
        ...(issuer.protocol === 'http:' && { execute: [oidc.allowInsecureRequests] }),
      });
    } catch (cause) {
      throw new GatewayError('upstream_error', 'The identity provider sent an invalid response.', { cause });
    }
  }
}

/** Sends the client's secret as the provider takes it; the default is in RFC 8414. */
function secretAs(secret: string): oidc.ClientAuth {
  return (server, client, body, headers) => {
    const { token_endpoint_auth_methods_supported: taken = ['client_secret_basic'] } = server;
    const send = taken.includes('client_secret_post') ? oidc.ClientSecretPost(secret) : oidc.ClientSecretBasic(secret);
    return send(server, client, body, headers);
  };
}

const hostAndPort = ({ hostname, port, protocol }: URL): string =>
  `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`;

function identityOf(issuer: string, subject: string, claims: Readonly<Record<string, unknown>>): ProvedIdentity {
  const { name, email, email_verified: isVerified } = claims;
  return {
    issuer,
    subject,
    name: typeof name === 'string' ? name : null,
    email: typeof email === 'string' && isVerified === true ? email.toLowerCase() : null,
  };
}

/** A call of the library, as the safe fetcher makes it. */
async function fetchSafely(
  fetcher: SafeFetcher,
  url: string,
  { method, headers, body, signal }: oidc.CustomFetchOptions,
): Promise<Response> {
  const bounds = { headers, signal, timeoutMs: TIMEOUT_SECONDS * 1_000 };
  if (method === 'GET') {
    const answer = await fetcher.get(url, { ...bounds, maxBytes: ANSWER_BYTES_MAX });
    const text = Buffer.concat(await answer.body.toArray());
    return new Response(text, { status: answer.status, headers: plain(answer.headers) });
  }
  const answer = await fetcher.post(url, { ...bounds, body: textOf(body), maxReplyBytes: ANSWER_BYTES_MAX });
  return new Response(new Uint8Array(answer.body), { status: answer.status, headers: plain(answer.headers) });
}

/** The library sends forms. @throws TypeError */
function textOf(body: oidc.FetchBody): string {
  if (typeof body === 'string' || body instanceof URLSearchParams) return body.toString();
  throw new TypeError('only forms are sent to the identity provider');
}

const plain = (headers: Readonly<Record<string, string | string[] | undefined>>): [string, string][] =>
  Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): [string, string] => [name, each]),
  );

/** Maps identities of the identity provider to users. */
@Injectable()
export class IdentitiesService {
  constructor(private readonly database: Database) {}

  /** The user who accepted an invitation with this identity; null when there is none, or it is disabled. */
  async userOf({ issuer, subject }: ProvedIdentity): Promise<string | null> {
    const { consoleIdentity } = await this.database.models();
    const known = await consoleIdentity.findUnique({
      where: { issuer_subject: { issuer, subject }, user: { disabledAt: null } },
    });
    return known?.userId ?? null;
  }
}
