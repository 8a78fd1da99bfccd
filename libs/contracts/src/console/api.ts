import type { ConsolePermission } from './access.js';
import type { AccountApi } from './account.js';
import type { AdminApi } from './admin.js';
import type { OverviewApi } from './overview.js';
import type { SessionApi } from './session.js';
import type { TasksApi } from './tasks.js';

/** Every route of the console, as `METHOD /path` below `/console/api`, with its query, body and answer. */
export interface ConsoleApi extends SessionApi, OverviewApi, AccountApi, TasksApi, AdminApi {}

export type ConsoleRoute = keyof ConsoleApi;

/** What a route asks for: nothing, any session, or a permission; and whether proof must be fresh (15 minutes). */
export interface ConsoleAccess {
  readonly needs: 'nothing' | 'session' | ConsolePermission;
  readonly proof?: true;
}

const open: ConsoleAccess = { needs: 'nothing' };
const signedIn: ConsoleAccess = { needs: 'session' };
const needs = (permission: ConsolePermission): ConsoleAccess => ({ needs: permission });
const proved = (permission: ConsolePermission): ConsoleAccess => ({ needs: permission, proof: true });

/** The access rule of each route. A route that is missing here does not compile. */
export const CONSOLE_ACCESS: Readonly<Record<ConsoleRoute, ConsoleAccess>> = {
  'GET /sign-in': open,
  'POST /sign-in/link': open,
  'POST /sign-in/password': open,
  'POST /sign-in/key': open,
  'POST /sign-in/operator': open,
  'POST /sign-in/passkey/options': open,
  'POST /sign-in/passkey': open,
  'POST /sign-in/oidc': open,
  'GET /sign-in/oidc/callback': open,
  'POST /sign-in/invitation/preview': open,
  'POST /sign-in/invitation': open,
  'GET /session': signedIn,
  'POST /session/sign-out': signedIn,
  'POST /session/sign-out-everywhere': signedIn,
  'POST /session/account': needs('profile:manage'),
  'POST /session/proof': signedIn,
  'POST /session/proof/passkey/options': needs('profile:manage'),
  'POST /session/proof/passkey': needs('profile:manage'),
  'GET /sessions': signedIn,
  'POST /sessions/:session_id/end': signedIn,
  'POST /profile': proved('profile:manage'),
  'POST /profile/password': proved('profile:manage'),
  'GET /passkeys': needs('profile:manage'),
  'POST /passkeys/options': proved('profile:manage'),
  'POST /passkeys': proved('profile:manage'),
  'POST /passkeys/:passkey_id/remove': proved('profile:manage'),

  'GET /overview': needs('overview:read'),
  'GET /keys': needs('keys:own'),
  'GET /keys/:key_id': needs('keys:own'),
  'POST /keys': proved('keys:own'),
  'POST /keys/:key_id': proved('keys:own'),
  'POST /keys/:key_id/rotate': proved('keys:own'),
  'POST /keys/:key_id/revoke': needs('keys:own'),
  'GET /models': needs('models:read'),
  'GET /models/:model': needs('models:read'),
  'POST /quote': needs('tasks:run'),
  'POST /runs': needs('tasks:run'),
  'POST /text/responses': needs('tasks:run'),
  'POST /text/chat/completions': needs('tasks:run'),
  'POST /text/messages': needs('tasks:run'),
  'POST /uploads': needs('tasks:run'),
  'GET /usage': needs('usage:read'),
  'GET /usage/records': needs('usage:read'),
  'GET /billing': needs('balance:read'),
  'POST /billing/notice': needs('billing:manage'),
  'GET /billing/entries': needs('ledger:read'),
  'GET /billing/entries/:entry_id': needs('ledger:read'),
  'GET /webhooks/endpoints': needs('webhooks:manage'),
  'POST /webhooks/endpoints': needs('webhooks:manage'),
  'POST /webhooks/endpoints/:endpoint_id/remove': needs('webhooks:manage'),
  'POST /webhooks/endpoints/:endpoint_id/rotate-secret': needs('webhooks:manage'),
  'POST /webhooks/endpoints/:endpoint_id/test': needs('webhooks:manage'),
  'GET /webhooks/deliveries': needs('webhooks:manage'),
  'GET /webhooks/deliveries/:delivery_id': needs('webhooks:manage'),
  'POST /webhooks/deliveries/:delivery_id/resend': needs('webhooks:manage'),
  'GET /people': needs('people:manage'),
  'POST /people/invitations': proved('people:manage'),
  'POST /people/invitations/:invitation_id/withdraw': needs('people:manage'),
  'POST /people/:user_id': proved('people:manage'),
  'POST /people/:user_id/remove': proved('people:manage'),

  'GET /tasks': needs('tasks:read'),
  'GET /tasks/:task_id': needs('tasks:read'),
  'POST /tasks/:task_id/cancel': needs('tasks:cancel'),
  'GET /tasks/events': needs('tasks:read'),

  'GET /admin/overview': needs('admin:read'),
  'GET /admin/accounts': needs('admin:read'),
  'POST /admin/accounts': proved('admin:write'),
  'GET /admin/accounts/:account_id': needs('admin:read'),
  'POST /admin/accounts/:account_id': proved('admin:write'),
  'POST /admin/accounts/:account_id/top-ups': proved('admin:write'),
  'POST /admin/accounts/:account_id/adjustments': proved('admin:write'),
  'GET /admin/accounts/:account_id/entries': needs('admin:accounts'),
  'GET /admin/accounts/:account_id/keys': needs('admin:accounts'),
  'POST /admin/accounts/:account_id/keys': proved('admin:write'),
  'POST /admin/keys/:key_id': proved('admin:write'),
  'POST /admin/keys/:key_id/revoke': needs('admin:write'),
  'GET /admin/prices': needs('admin:read'),
  'POST /admin/prices/preview': needs('admin:write'),
  'POST /admin/prices': proved('admin:write'),
  'GET /admin/upstreams': needs('admin:read'),
  'GET /admin/upstreams/:upstream_id': needs('admin:read'),
  'POST /admin/upstreams': proved('admin:write'),
  'POST /admin/upstreams/:upstream_id': proved('admin:write'),
  'POST /admin/upstreams/:upstream_id/remove': proved('admin:write'),
  'GET /admin/tasks': needs('admin:read'),
  'GET /admin/tasks/:task_id': needs('admin:read'),
  'POST /admin/tasks/:task_id/cancel': needs('admin:write'),
  'POST /admin/tasks/:task_id/refund': proved('admin:write'),
  'POST /admin/tasks/:task_id/redrive': needs('admin:write'),
  'GET /admin/tasks-needing-attention': needs('admin:read'),
  'GET /admin/reconciliations': needs('admin:read'),
  'POST /admin/reconciliations': needs('admin:write'),
  'GET /admin/audit': needs('admin:read'),
  'GET /admin/margins': needs('admin:read'),
  'GET /admin/people': needs('admin:accounts'),
  'POST /admin/people/invitations': proved('admin:write'),
  'POST /admin/people/:user_id': proved('admin:write'),
};
