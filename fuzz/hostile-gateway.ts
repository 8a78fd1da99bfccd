import type { Sender } from './targets.js';
import type { Environment } from '#platform';
import { type AdminGateway, startAdminGateway } from '../tests/harness/admin-gateway.js';
import { consoleClient, OWN_PAGE } from '../tests/harness/console-client.js';
import type { TestGateway, TestGatewayOptions } from '../tests/harness/test-gateway.js';

const ACCOUNTS = 4;

/** A gateway with several accounts, whose limits of free work are out of the way. */
export interface HostileGateway {
  readonly gateway: TestGateway;
  readonly keys: readonly string[];
  /** The operator's. */
  readonly token: string;
  readonly people: People;
}

/** The senders without a key: the headers of each, and the ids of an account and a key that they may change. */
export interface People {
  readonly headers: Readonly<Record<Exclude<Sender, 'key'>, Readonly<Record<string, string>>>>;
  readonly ids: Readonly<Record<'account' | 'key', string>>;
}

/** Starts a gateway and makes accounts that may do anything. */
export async function startHostileGateway(
  environment: Environment = {},
  options: TestGatewayOptions = {},
): Promise<HostileGateway> {
  const limits = { FREE_REQUESTS_PER_MINUTE: '10000000', TRUSTED_PROXIES: 'loopback' };
  const api = await startAdminGateway({ ...limits, ...environment }, options);
  const keys: string[] = [];
  for (let made = 0; made < ACCOUNTS; made += 1) {
    const account = await api.newAccount({ unlimited: true });
    keys.push((await api.newKey(account.id)).key);
  }
  return { gateway: api.gateway, keys, token: api.token, people: await signIn(api) };
}

/** An operator and the owner of an account, signed in to the console. */
async function signIn(api: AdminGateway): Promise<People> {
  const { gateway, token } = api;
  const account = await api.newAccount({ unlimited: true });
  const key = await api.newKey(account.id);
  const admin = consoleClient(gateway);
  await admin.call('POST /sign-in/operator', { token });
  const invitation = { account_id: account.id, role: 'owner' };
  const { body } = await admin.call('POST /admin/people/invitations', invitation);
  const owner = consoleClient(gateway);
  const code = new URL(body.link).hash.replace('#invitation=', '');
  const person = { name: 'Owner', email: 'owner@example.com', password: 'correct horse battery' };
  await owner.call('POST /sign-in/invitation', { code, ...person });
  if (admin.cookie === '' || owner.cookie === '') throw new Error('the sign-in failed');
  return {
    headers: {
      operator: { authorization: `Bearer ${token}`, 'x-admin-actor': 'finance@example.com' },
      admin: { ...OWN_PAGE, cookie: admin.cookie },
      owner: { ...OWN_PAGE, cookie: owner.cookie },
      visitor: OWN_PAGE,
    },
    ids: { account: account.id, key: key.id },
  };
}
