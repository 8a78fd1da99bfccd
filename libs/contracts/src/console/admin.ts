import type { JsonObject } from '../json.js';
import type { AccountRole, OperatorConsoleRole } from './access.js';
import type { ConsoleKey, ConsoleKeySettings } from './account.js';
import type { AdminMargins, AdminMarginsQuery, AdminUpstream } from './admin-upstreams.js';
import type {
  Amount,
  ConsoleExportQuery,
  ConsoleList,
  ConsoleListQuery,
  Day,
  NoFields,
  Read,
  Time,
  Write,
} from './common.js';
import type { ConsoleEntry } from './money.js';
import type { ConsoleTaskEventName } from './tasks.js';

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
  readonly created_at: Time;
  readonly disabled_at: Time | null;
}

/** What can be set on an account; absent fields stay as they are, null lifts a limit. */
export interface AdminAccountSettings {
  name?: string;
  unlimited?: boolean;
  priority?: number;
  max_running_tasks?: number | null;
  requests_per_minute?: number | null;
  tokens_per_minute?: number | null;
  daily_limit?: Amount | null;
  monthly_limit?: Amount | null;
  low_balance?: Amount | null;
  disabled?: boolean;
}

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

/** A price in the book. */
export interface AdminPrice {
  readonly id: string;
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  readonly amount: Amount;
  readonly per_quantity: number;
  readonly effective_from: Time;
  readonly created_by: string;
}

export interface AdminNewPrice {
  model: string;
  unit: string;
  /** The variant `default` if absent. */
  variant?: string;
  amount: Amount;
  /** 1 by default. */
  per_quantity?: number;
  /** Now by default; never before now. */
  effective_from?: Time;
}

/** What a new price would have changed in the last 30 days. */
export interface AdminPricePreview {
  readonly from: Day;
  readonly to: Day;
  /** Charged at the prices of then, and what the new price would have charged for the same. */
  readonly charged: Amount;
  readonly repriced: Amount;
  /** The 20 accounts with the largest difference. */
  readonly accounts: readonly {
    readonly account_id: string;
    readonly account_name: string;
    readonly charged: Amount;
    readonly repriced: Amount;
  }[];
  /** The price in force now; null when there is none. */
  readonly current: AdminPrice | null;
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
    readonly redrive_of: string | null;
    readonly redriven_as: string | null;
  };
  readonly timeline: readonly {
    readonly time: Time;
    /** By the name that logs have. */
    readonly event: string;
    /** The name that the task's owner reads, or null for what is shown to operators only. */
    readonly name: ConsoleTaskEventName | null;
    readonly detail: JsonObject | null;
  }[];
  readonly entries: readonly JsonObject[];
  readonly usage: readonly JsonObject[];
  readonly deliveries: readonly JsonObject[];
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

/** A user that can sign in. */
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

/** What operators see and do; a change needs the role `operator` and proof. */
export interface AdminApi {
  'GET /admin/overview': Read<AdminOverview>;
  'GET /admin/accounts': Read<ConsoleList<AdminAccount>, ConsoleListQuery & { readonly name?: string }>;
  'POST /admin/accounts': Write<AdminAccountSettings & { name: string }, AdminAccount>;
  'GET /admin/accounts/:account_id': Read<AdminAccount>;
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
  'POST /admin/keys/:key_id': Write<ConsoleKeySettings, ConsoleKey>;
  'POST /admin/keys/:key_id/revoke': Write<NoFields, ConsoleKey>;
  /** Those in force; all there were and will be with `history`. */
  'GET /admin/prices': Read<
    { items: readonly AdminPrice[] },
    { readonly model?: string; readonly history?: 'true' | 'false' }
  >;
  'POST /admin/prices/preview': Write<AdminNewPrice, AdminPricePreview>;
  'POST /admin/prices': Write<AdminNewPrice, AdminPrice>;
  'GET /admin/upstreams': Read<{ items: readonly AdminUpstream[] }>;
  'GET /admin/upstreams/:upstream_id': Read<AdminUpstream>;
  /** The fields of an upstream of UPSTREAMS_FILE, with `kind` and `enabled`. */
  'POST /admin/upstreams': Write<JsonObject, AdminUpstream>;
  /** A JSON merge patch of the settings. */
  'POST /admin/upstreams/:upstream_id': Write<JsonObject, AdminUpstream>;
  'POST /admin/upstreams/:upstream_id/remove': Write<NoFields, { id: string; removed: true }>;
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
    parked: readonly JsonObject[];
    unconfirmed: readonly JsonObject[];
    orphans: readonly JsonObject[];
  }>;
  'GET /admin/reconciliations': Read<{ items: readonly AdminReconciliation[] }>;
  /** `full`: reads every entry again. Answers the report. */
  'POST /admin/reconciliations': Write<{ full?: boolean }, AdminReconciliation>;
  'GET /admin/audit': Read<ConsoleList<AdminAuditRecord>, ConsoleExportQuery & { readonly subject_id?: string }>;
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
