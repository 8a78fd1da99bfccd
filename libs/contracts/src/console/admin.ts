import type { JsonObject } from '../json.js';
import type { AccountRole, OperatorConsoleRole } from './access.js';
import type {
  ConsoleDelivery,
  ConsoleKey,
  ConsoleKeySettings,
  ConsolePrompt,
  ConsolePromptEntry,
  ConsolePromptLog,
  ConsolePromptLogSettings,
  ConsolePromptsQuery,
} from './account.js';
import type { AdminPricesApi } from './admin-prices.js';
import type {
  AdminConversations,
  AdminMargins,
  AdminMarginsQuery,
  AdminUpstream,
  AdminUpstreamProof,
} from './admin-upstreams.js';
import type {
  Amount,
  ConsoleExportQuery,
  ConsoleList,
  ConsoleListQuery,
  NoFields,
  Read,
  Time,
  Write,
} from './common.js';
import type {
  AdminAgentSession,
  AdminSessionRequest,
  ConsoleAgentSessionsQuery,
  ConsoleEntry,
  ConsoleSessionRequestsQuery,
  ConsoleTagLimit,
} from './money.js';
import type { ConsoleTask, ConsoleTaskEventName } from './tasks.js';

/** An account as operators see it. */
export interface AdminAccount {
  readonly id: string;
  readonly name: string;
  readonly available: Amount;
  readonly held: Amount;
  readonly used: Amount;
  readonly owed: Amount;
  readonly unlimited: boolean;
  readonly priority: number;
  readonly max_running_tasks: number | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly daily_limit: Amount | null;
  readonly monthly_limit: Amount | null;
  readonly low_balance: Amount | null;
  /** In which it has its days and months; null: UTC. */
  readonly time_zone: string | null;
  readonly created_at: Time;
  readonly disabled_at: Time | null;
}

/** An account with the price list that it has now; null: the book. */
export interface AdminAccountDetails extends AdminAccount {
  readonly price_list: { readonly id: string; readonly name: string } | null;
}

/** What can be set on an account; absent fields stay as they are, null lifts a limit. */
export type AdminAccountSettings = Partial<
  Omit<AdminAccount, 'id' | 'available' | 'held' | 'used' | 'owed' | 'created_at' | 'disabled_at'>
> & { readonly disabled?: boolean };

/** A payment or correction; the same reference again changes nothing and answers `replayed`. */
export interface AdminFunding {
  amount: Amount;
  reference: string;
  note?: string;
}

export interface AdminFunded {
  readonly entry_id: string;
  readonly amount: Amount;
  readonly available: Amount;
  readonly replayed: boolean;
}

/** A task as operators see it: its state, never the content of the order or the result. */
export interface AdminTask {
  readonly id: string;
  readonly account_id: string;
  readonly api_key_id: string;
  readonly medium: string;
  readonly model: string;
  readonly state: string;
  readonly status: string;
  readonly progress: number;
  readonly attempt: number;
  readonly failures: number;
  readonly last_failure: string | null;
  readonly provider: string | null;
  readonly vendor_ids: JsonObject | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly hold: Amount;
  readonly charged: Amount | null;
  readonly request_id: string;
  readonly created_at: Time;
  readonly started_at: Time | null;
  readonly finished_at: Time | null;
  readonly deadline_at: Time;
}

/** A task with its whole life. */
export interface AdminTaskDetails {
  readonly task: AdminTask & {
    readonly refunded: Amount;
    readonly cancel_outcome: string | null;
    readonly lease_owner: string | null;
    readonly lease_until: Time | null;
    readonly redrive_of: string | null;
    readonly redriven_as: string | null;
    /** What it cost the operator, once it has ended, in the vendor's own currency or unit; null: unknown. */
    readonly cost: Amount | null;
    readonly cost_currency: string | null;
    readonly cost_source: 'reported' | 'configured' | null;
    /** The same in the unit of balances. */
    readonly cost_worth: Amount | null;
  };
  readonly timeline: readonly {
    readonly time: Time;
    /** By the name that logs have. */
    readonly event: string;
    /** The name that the task's owner reads, or null for what is shown to operators only. */
    readonly name: ConsoleTaskEventName | null;
    readonly detail: JsonObject | null;
  }[];
  readonly entries: readonly {
    readonly id: string;
    readonly kind: string;
    readonly debit: string;
    readonly credit: string;
    readonly amount: Amount;
    readonly reference: string | null;
    readonly note: string | null;
    readonly created_at: Time;
  }[];
  readonly usage: readonly JsonObject[];
  readonly deliveries: readonly Omit<AdminDelivery, 'account_id' | 'task_id'>[];
  /** What it made, for who may change things; else null. */
  readonly files: ConsoleTask['files'] | null;
}

export interface AdminTasksQuery extends ConsoleListQuery {
  readonly task_id?: string;
  readonly request_id?: string;
  readonly account_id?: string;
  readonly api_key_id?: string;
  readonly model?: string;
  readonly type?: string;
  readonly status?: string;
  readonly state?: string;
  readonly error_code?: string;
  readonly vendor_id?: string;
  readonly vendor_request_id?: string;
  readonly created_from?: Time;
  readonly created_to?: Time;
}

/** The proof that the ledger adds up. */
export interface AdminReconciliation {
  readonly id: string;
  readonly started_at: Time;
  readonly finished_at: Time;
  readonly balanced: boolean;
  readonly full: boolean;
  readonly counts: Readonly<Record<'accounts' | 'keys' | 'tasks' | 'entries', string>>;
  readonly findings: readonly JsonObject[];
}

/** An action of an operator. */
export interface AdminAuditRecord {
  readonly id: string;
  readonly time: Time;
  readonly actor: string;
  readonly action: string;
  readonly subject_type: string;
  readonly subject_id: string;
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  readonly request_id: string;
  readonly address: string | null;
}

export interface AdminPerson {
  readonly user_id: string;
  readonly name: string;
  readonly email: string | null;
  readonly operator_role: OperatorConsoleRole | null;
  readonly memberships: readonly {
    readonly account_id: string;
    readonly account_name: string;
    readonly role: AccountRole;
  }[];
  readonly created_at: Time;
  readonly seen_at: Time | null;
  readonly disabled_at: Time | null;
}

/** Counts of the whole gateway. */
export interface AdminOverview {
  readonly open_tasks: number;
  readonly parked_tasks: number;
  readonly unconfirmed_tasks: number;
  readonly orphans: number;
  readonly upstreams: number;
  readonly upstreams_not_serving: number;
  readonly workers: number;
  readonly last_reconciliation: AdminReconciliation | null;
}

/** Something that an operator should check. What the sentence of its code says besides: a name, a number, seconds. */
export interface AdminConcern {
  /** `bad`: act now. */
  readonly tone: 'bad' | 'warn';
  readonly code:
    | 'part'
    | 'database_silent'
    | 'books_differ'
    | 'reconciliation_findings'
    | 'reconciliation_old'
    | 'parked'
    | 'unconfirmed'
    | 'orphans'
    | 'tasks_late'
    | 'polls_late'
    | 'webhooks_late'
    | 'webhooks_failed'
    | 'no_worker'
    | 'workers_silent'
    | 'queue_silent'
    | 'queue_paused'
    | 'upstream_cooling'
    | 'upstream_problem';
  readonly name: string;
  readonly count: number;
  readonly seconds: number;
}

/** How the whole gateway stands. Null: the source did not answer within 3 s. */
export interface AdminHealth {
  readonly as_of: Time;
  readonly version: string;
  /** The worst first. */
  readonly attention: readonly AdminConcern[];
  /** Sums over all accounts. */
  readonly money: { readonly available: Amount; readonly held: Amount; readonly used: Amount } | null;
  readonly open_tasks: readonly { readonly type: string; readonly state: string; readonly count: number }[] | null;
  readonly queues: readonly {
    readonly name: string;
    readonly state: 'active' | 'paused' | 'silent';
    readonly waiting: number;
    readonly active: number;
    readonly failed: number;
  }[];
  /** Polls of vendors that are due, and deliveries not yet made; ages in seconds. */
  readonly late: {
    readonly polls: number;
    readonly oldest_poll: number;
    readonly deliveries: number;
    readonly oldest_delivery: number;
  } | null;
  /** Models on sale that lack a price. */
  readonly unpriced: readonly string[] | null;
  /** Tasks of the last 24 hours, by model and reason, the most frequent first. */
  readonly failures: readonly { readonly model: string; readonly error_code: string; readonly count: number }[] | null;
}

/** A task that was given up for a reason of ours, or whose start no vendor confirmed. */
export type AdminTaskNeedingAttention = Pick<
  AdminTask,
  'id' | 'account_id' | 'model' | 'state' | 'provider' | 'failures' | 'last_failure' | 'created_at' | 'deadline_at'
>;

export interface AdminWorker {
  readonly id: string;
  readonly role: string;
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  /** `silent`: not heard of for 15 s, so most likely dead. */
  readonly status: 'live' | 'stopping' | 'silent';
  readonly concurrency: number | null;
  readonly tasks_in_hand: number;
  readonly started_at: Time;
  readonly last_heartbeat_at: Time;
}

export interface AdminDelivery extends ConsoleDelivery {
  readonly account_id: string;
}

/** What operators see and do; a change needs the role `operator` and proof. */
export interface AdminApi extends AdminPricesApi {
  'GET /admin/overview': Read<AdminOverview>;
  'GET /admin/health': Read<AdminHealth>;
  /** `all`: also those that fell silent within a day. */
  'GET /admin/workers': Read<{ items: readonly AdminWorker[] }, { readonly all?: 'true' | 'false' }>;
  'GET /admin/deliveries': Read<
    ConsoleList<AdminDelivery>,
    ConsoleListQuery & {
      readonly account_id?: string;
      readonly endpoint_id?: string;
      readonly task_id?: string;
      readonly status?: string;
    }
  >;
  /** At once, under the same id. */
  'POST /admin/deliveries/:delivery_id/resend': Write<NoFields, AdminDelivery>;
  'GET /admin/accounts': Read<ConsoleList<AdminAccount>, ConsoleListQuery & { readonly name?: string }>;
  'POST /admin/accounts': Write<AdminAccountSettings & { name: string }, AdminAccount>;
  'GET /admin/accounts/:account_id': Read<AdminAccountDetails>;
  'POST /admin/accounts/:account_id': Write<AdminAccountSettings, AdminAccount>;
  'POST /admin/accounts/:account_id/top-ups': Write<AdminFunding, AdminFunded>;
  'POST /admin/accounts/:account_id/adjustments': Write<AdminFunding, AdminFunded>;
  'GET /admin/accounts/:account_id/entries': Read<ConsoleList<ConsoleEntry>, ConsoleExportQuery>;
  'GET /admin/accounts/:account_id/keys': Read<{ items: readonly ConsoleKey[] }>;
  /** `secret` is shown in this response only. */
  'POST /admin/accounts/:account_id/keys': Write<
    ConsoleKeySettings & { name: string },
    { key: ConsoleKey; secret: string }
  >;
  /** Of the work under tags. A change sets all of them anew. */
  'GET /admin/accounts/:account_id/tag-limits': Read<{ items: readonly ConsoleTagLimit[] }>;
  'POST /admin/accounts/:account_id/tag-limits': Write<
    { limits: readonly { tag: string; daily_limit?: Amount | null; monthly_limit?: Amount | null }[] },
    { items: readonly ConsoleTagLimit[] }
  >;
  'GET /admin/accounts/:account_id/prompt-log': Read<ConsolePromptLog>;
  'POST /admin/accounts/:account_id/prompt-log': Write<ConsolePromptLogSettings, ConsolePromptLog>;
  'POST /admin/accounts/:account_id/prompt-log/clear': Write<NoFields, ConsolePromptLog>;
  'GET /admin/accounts/:account_id/prompt-log/entries': Read<ConsoleList<ConsolePromptEntry>, ConsolePromptsQuery>;
  'GET /admin/accounts/:account_id/prompt-log/entries/:entry_id': Read<ConsolePrompt>;
  'POST /admin/accounts/:account_id/prompt-log/entries/:entry_id/remove': Write<
    NoFields,
    { id: string; removed: true }
  >;
  'POST /admin/keys/:key_id': Write<ConsoleKeySettings, ConsoleKey>;
  'POST /admin/keys/:key_id/revoke': Write<NoFields, ConsoleKey>;
  'GET /admin/upstreams': Read<{ items: readonly AdminUpstream[] }>;
  'GET /admin/upstreams/:upstream_id': Read<AdminUpstream>;
  /** The fields of an upstream of UPSTREAMS_FILE, with `kind` and `enabled`. */
  'POST /admin/upstreams': Write<JsonObject, AdminUpstream>;
  /** A JSON merge patch of the settings. */
  'POST /admin/upstreams/:upstream_id': Write<JsonObject, AdminUpstream>;
  /** One call that needs the key, free where the vendor has such a one. */
  'POST /admin/upstreams/:upstream_id/verify': Write<NoFields, AdminUpstreamProof>;
  /** Whether conversations stay at one upstream. */
  'GET /admin/conversations': Read<AdminConversations>;
  'POST /admin/upstreams/:upstream_id/remove': Write<NoFields, { id: string; deleted: true }>;
  'GET /admin/tasks': Read<ConsoleList<AdminTask>, AdminTasksQuery>;
  'GET /admin/tasks/:task_id': Read<AdminTaskDetails>;
  'POST /admin/tasks/:task_id/cancel': Write<{ reason?: string }, { task_id: string; status: string }>;
  /** Without `amount`, all that is left of the charge. */
  'POST /admin/tasks/:task_id/refund': Write<
    { amount?: Amount; reference: string; reason: string },
    { entry_id: string; amount: Amount; replayed: boolean }
  >;
  'POST /admin/tasks/:task_id/redrive': Write<{ reason?: string }, { task_id: string }>;
  'GET /admin/tasks-needing-attention': Read<{
    readonly parked: readonly AdminTaskNeedingAttention[];
    readonly unconfirmed: readonly AdminTaskNeedingAttention[];
    readonly orphans: readonly { readonly task_id: string; readonly provider: string; readonly created_at: Time }[];
  }>;
  'GET /admin/reconciliations': Read<{ items: readonly AdminReconciliation[] }>;
  /** `full`: reads every entry again. Answers the report. */
  'POST /admin/reconciliations': Write<{ full?: boolean }, AdminReconciliation>;
  'GET /admin/audit': Read<ConsoleList<AdminAuditRecord>, ConsoleExportQuery & { readonly subject_id?: string }>;
  'GET /admin/agent-sessions': Read<
    ConsoleList<AdminAgentSession>,
    ConsoleAgentSessionsQuery & { readonly account_id?: string }
  >;
  'GET /admin/agent-sessions/requests': Read<
    ConsoleList<AdminSessionRequest>,
    ConsoleSessionRequestsQuery & { readonly account_id: string }
  >;
  'GET /admin/margins': Read<AdminMargins, AdminMarginsQuery>;
  'GET /admin/people': Read<ConsoleList<AdminPerson>, ConsoleListQuery>;
  /** With `account_id` into that account, else as an operator. `link` is shown in this response only. */
  'POST /admin/people/invitations': Write<
    { account_id?: string; role: AccountRole | OperatorConsoleRole; email?: string },
    { id: string; link: string; expires_at: Time }
  >;
  /** Null takes the role of an operator away; `disabled` shuts the person out everywhere. */
  'POST /admin/people/:user_id': Write<{ operator_role?: OperatorConsoleRole | null; disabled?: boolean }, AdminPerson>;
}
