import type { Environment } from '#platform';
import { startAdminGateway } from '../apps/gateway/src/testing/admin-gateway.js';
import type { TestGateway, TestGatewayOptions } from '../apps/gateway/src/testing/test-gateway.js';

const ACCOUNTS = 4;

/** A gateway with several accounts, whose limits of free work are out of the way. */
export interface HostileGateway {
  readonly gateway: TestGateway;
  readonly keys: readonly string[];
  /** The operator's. */
  readonly token: string;
}

/** Starts a gateway and makes accounts that may do anything. */
export async function startHostileGateway(
  environment: Environment = {},
  options: TestGatewayOptions = {},
): Promise<HostileGateway> {
  const api = await startAdminGateway({ FREE_REQUESTS_PER_MINUTE: '10000000', ...environment }, options);
  const keys: string[] = [];
  for (let made = 0; made < ACCOUNTS; made += 1) {
    const account = await api.newAccount({ unlimited: true });
    keys.push((await api.newKey(account.id)).key);
  }
  return { gateway: api.gateway, keys, token: api.token };
}
