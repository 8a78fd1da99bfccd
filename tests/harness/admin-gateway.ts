import type { JsonObject } from '#contracts';
import type { Environment } from '#platform';
import { startTestGateway, type TestAnswer, type TestGateway, type TestGatewayOptions } from './test-gateway.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';

/** An answer of the admin API. */
export interface AdminAnswer<Data = JsonObject> {
  readonly code: number;
  readonly data: Data;
  readonly next_cursor?: string | null;
  readonly error: { readonly code: string; readonly param: string | null };
}

/** A test gateway with its admin API open. */
export interface AdminGateway {
  readonly gateway: TestGateway;
  readonly token: string;
  /** Calls the admin API; `path` follows /admin/v1. */
  admin<Data = JsonObject>(method: string, path: string, body?: unknown): Promise<TestAnswer<AdminAnswer<Data>>>;
  /** Calls the public API with a key of its own. */
  withKey<Body = JsonObject>(key: string, path?: string, method?: string, body?: unknown): Promise<TestAnswer<Body>>;
  newAccount(settings?: object): Promise<{ readonly id: string }>;
  newKey(
    accountId: string,
    settings?: object,
  ): Promise<{ readonly id: string; readonly key: string; readonly prefix: string }>;
}

/** Starts it, with further environment variables and options. Call `gateway.stop` in `afterAll`. */
export async function startAdminGateway(
  environment: Environment = {},
  options: TestGatewayOptions = {},
): Promise<AdminGateway> {
  const gateway = await startTestGateway({ ...options, environment: { ...environment, ADMIN_TOKEN } });
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'x-admin-actor': 'finance@example.com' };
  const admin: AdminGateway['admin'] = (method, path, body) => gateway.send(method, `/admin/v1${path}`, body, headers);
  const create = async <Made>(path: string, body: object): Promise<Made> =>
    (await admin<Made>('POST', path, body)).body.data;
  return {
    gateway,
    token: ADMIN_TOKEN,
    admin,
    withKey: (key, path = '/v1/user/balance', method = 'GET', body?: unknown) =>
      gateway.send(method, path, body, { authorization: `Bearer ${key}` }),
    newAccount: (settings) => create('/accounts', { name: 'Studio', ...settings }),
    newKey: (accountId, settings) => create(`/accounts/${accountId}/keys`, { name: 'render farm', ...settings }),
  };
}
