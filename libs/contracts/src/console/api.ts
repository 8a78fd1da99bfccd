import type { ConsolePermission } from './access.js';
import type { AccountApi } from './account.js';
import type { AdminApi } from './admin.js';
import type { Amount, Read } from './common.js';
import type { ConsoleBalance } from './money.js';
import type { SessionApi } from './session.js';
import type { ConsoleTask, TasksApi } from './tasks.js';

/** Something that the user should check. */
export interface ConsoleWarning {
  readonly code:
    'balance_low' | 'balance_empty' | 'owing' | 'webhooks_failing' | 'keys_expiring' | 'no_model_available';
  readonly message: string;
}

/** The first page. */
interface ConsoleOverview {
  readonly balance: ConsoleBalance;
  readonly spent_today: Amount;
  readonly spent_7_days: Amount;
  /** At the pace of the last 7 days; null when nothing was spent or nothing limits it. */
  readonly days_left: number | null;
  /** Ended requests and tasks of the last 7 days, as the usage page counts them. */
  readonly requests_7_days: number;
  readonly failed_7_days: number;
  readonly open_tasks: number;
  /** At most 8; empty without `tasks:read`. */
  readonly latest_tasks: readonly ConsoleTask[];
  readonly warnings: readonly ConsoleWarning[];
  /** What a new account has done already. */
  readonly checklist: { readonly key: boolean; readonly run: boolean; readonly webhook: boolean };
}

/** The first page of an account. */
interface OverviewApi {
  'GET /overview': Read<ConsoleOverview>;
}

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
  'GET /tag-limits': needs('usage:read'),
  'GET /agent-sessions': needs('usage:read'),
  'GET /agent-sessions/requests': needs('usage:read'),
  'GET /prompt-log': needs('prompts:manage'),
  'POST /prompt-log': proved('prompts:manage'),
  'POST /prompt-log/clear': needs('prompts:manage'),
  'GET /prompt-log/entries': needs('prompts:manage'),
  'GET /prompt-log/entries/:entry_id': needs('prompts:manage'),
  'POST /prompt-log/entries/:entry_id/remove': needs('prompts:manage'),
  'GET /billing': needs('balance:read'),
  'POST /billing/notice': needs('billing:manage'),
  'POST /billing/time-zone': needs('billing:manage'),
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
  'GET /admin/health': needs('admin:read'),
  'GET /admin/workers': needs('admin:read'),
  'GET /admin/deliveries': needs('admin:read'),
  'POST /admin/deliveries/:delivery_id/resend': needs('admin:write'),
  'GET /admin/accounts': needs('admin:read'),
  'POST /admin/accounts': proved('admin:write'),
  'GET /admin/accounts/:account_id': needs('admin:read'),
  'POST /admin/accounts/:account_id': proved('admin:write'),
  'POST /admin/accounts/:account_id/top-ups': proved('admin:write'),
  'POST /admin/accounts/:account_id/adjustments': proved('admin:write'),
  'GET /admin/accounts/:account_id/entries': needs('admin:accounts'),
  'GET /admin/accounts/:account_id/keys': needs('admin:accounts'),
  'POST /admin/accounts/:account_id/keys': proved('admin:write'),
  'GET /admin/accounts/:account_id/tag-limits': needs('admin:accounts'),
  'POST /admin/accounts/:account_id/tag-limits': proved('admin:write'),
  'GET /admin/accounts/:account_id/prompt-log': needs('admin:accounts'),
  'POST /admin/accounts/:account_id/prompt-log': proved('admin:write'),
  'POST /admin/accounts/:account_id/prompt-log/clear': proved('admin:write'),
  'GET /admin/accounts/:account_id/prompt-log/entries': needs('admin:accounts'),
  'GET /admin/accounts/:account_id/prompt-log/entries/:entry_id': needs('admin:accounts'),
  'POST /admin/accounts/:account_id/prompt-log/entries/:entry_id/remove': proved('admin:write'),
  'POST /admin/keys/:key_id': proved('admin:write'),
  'POST /admin/keys/:key_id/revoke': needs('admin:write'),
  'GET /admin/agent-sessions': needs('admin:accounts'),
  'GET /admin/agent-sessions/requests': needs('admin:accounts'),
  'GET /admin/prices': needs('admin:read'),
  'POST /admin/prices/preview': needs('admin:write'),
  'POST /admin/prices': proved('admin:write'),
  'POST /admin/prices/set': proved('admin:write'),
  'GET /admin/price-proposals': needs('admin:read'),
  'GET /admin/price-proposals/:proposal_id': needs('admin:read'),
  'GET /admin/price-proposals/:proposal_id/others': needs('admin:read'),
  'POST /admin/price-proposals': needs('admin:write'),
  'POST /admin/price-proposals/:proposal_id/apply': proved('admin:write'),
  'POST /admin/price-proposals/:proposal_id/undo': proved('admin:write'),
  'GET /admin/price-names': needs('admin:read'),
  'POST /admin/price-names': proved('admin:write'),
  'POST /admin/price-simulations': needs('admin:write'),
  'GET /admin/price-lists': needs('admin:read'),
  'GET /admin/price-lists/:list_id': needs('admin:read'),
  'POST /admin/price-lists': proved('admin:write'),
  'POST /admin/price-lists/:list_id/rules': proved('admin:write'),
  'POST /admin/accounts/:account_id/price-list': proved('admin:write'),
  'GET /admin/upstreams': needs('admin:read'),
  'GET /admin/upstreams/:upstream_id': needs('admin:read'),
  'POST /admin/upstreams': proved('admin:write'),
  'POST /admin/upstreams/:upstream_id': proved('admin:write'),
  'POST /admin/upstreams/:upstream_id/verify': proved('admin:write'),
  'GET /admin/conversations': needs('admin:read'),
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
