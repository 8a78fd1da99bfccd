import type { FieldTableRow } from '../catalog/field-table.js';
import type { JsonObject } from '../json.js';
import type { AccountRole } from './access.js';
import type {
  Amount,
  ConsoleExportQuery,
  ConsoleList,
  ConsoleListQuery,
  ConsoleProblem,
  NoFields,
  Read,
  Time,
  Write,
} from './common.js';
import type {
  ConsoleAgentSession,
  ConsoleAgentSessionsQuery,
  ConsoleBalance,
  ConsolePrice,
  ConsoleQuote,
  ConsoleSpendLimit,
  ConsoleUsageQuery,
  ConsoleSessionRequestsQuery,
  ConsoleTagLimit,
  ConsoleUsage,
  ConsoleUsageRecord,
  ConsoleEntry,
  ConsoleEntryExplained,
} from './money.js';

/** A key, never its secret. */
export interface ConsoleKey {
  readonly id: string;
  readonly name: string;
  /** `console`: what runs of the playground are charged to; it has no secret, and cannot be rotated or revoked. */
  readonly kind: 'api' | 'console';
  readonly state: 'active' | 'expired' | 'revoked';
  readonly prefix: string;
  /** Its creator; null when an operator or the gateway created it. */
  readonly created_by: { readonly id: string; readonly name: string } | null;
  readonly is_own: boolean;
  readonly quota: Amount | null;
  readonly limits: readonly ConsoleSpendLimit[];
  readonly held: Amount;
  readonly used: Amount;
  readonly allowed_models: readonly string[];
  readonly allowed_addresses: readonly string[];
  readonly scopes: readonly string[];
  /** What its requests are tagged with. */
  readonly tags: readonly string[];
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly max_running_tasks: number | null;
  readonly created_at: Time;
  readonly expires_at: Time | null;
  readonly revoked_at: Time | null;
  readonly last_used_at: Time | null;
  /** Until when the secret before the last rotation works. */
  readonly previous_valid_until: Time | null;
}

/** What can be set on a key; absent fields stay as they are, null lifts a limit. */
export type ConsoleKeySettings = Partial<
  Pick<
    ConsoleKey,
    | 'name'
    | 'quota'
    | 'allowed_models'
    | 'allowed_addresses'
    | 'scopes'
    | 'tags'
    | 'requests_per_minute'
    | 'tokens_per_minute'
    | 'max_running_tasks'
    | 'expires_at'
  >
> & { readonly daily_limit?: Amount | null; readonly monthly_limit?: Amount | null };

/** A model with all that its page and the form of the playground need. */
export interface ConsoleModel {
  readonly id: string;
  readonly kind: 'text' | 'embedding' | 'video' | 'image';
  readonly available: boolean;
  /** Where its requests go, for the code that is shown. */
  readonly paths: readonly string[];
  readonly summary: string;
  readonly modes: readonly string[];
  /** The form: each with its schema, unit, group and order. Empty for text. */
  readonly fields: readonly FieldTableRow[];
  readonly rules: readonly string[];
  readonly result_lifetime_seconds: number | null;
  readonly prices: readonly ConsolePrice[];
  readonly variants: readonly {
    readonly variant: string;
    readonly unit: string;
    readonly from_input_tokens?: number;
    readonly price: Pick<ConsolePrice, 'amount' | 'per_quantity' | 'currency'> | null;
  }[];
}

export interface ConsoleWebhookEndpoint {
  readonly id: string;
  readonly url: string;
  /** Empty: everything. */
  readonly event_types: readonly string[];
  readonly created_at: Time;
}

/** One event on its way to one address. */
export interface ConsoleDelivery {
  readonly id: string;
  readonly event_type: string;
  readonly task_id: string | null;
  readonly endpoint_id: string | null;
  readonly url: string;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created_at: Time;
  readonly next_attempt_at: Time | null;
}

export interface ConsoleDeliveryAttempt {
  readonly attempt: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number;
  readonly created_at: Time;
}

export interface ConsolePerson {
  readonly user_id: string;
  readonly name: string;
  readonly email: string | null;
  readonly role: AccountRole;
  readonly is_self: boolean;
  readonly joined_at: Time;
  readonly seen_at: Time | null;
}

/** An open invitation; its link was shown once, to its creator. */
export interface ConsoleInvitation {
  readonly id: string;
  readonly email: string | null;
  readonly role: AccountRole;
  readonly invited_by: string;
  readonly created_at: Time;
  readonly expires_at: Time;
}

/** What of an account is logged of its prompts and answers. */
export interface ConsolePromptLogSettings {
  readonly enabled: boolean;
  readonly retention_days: number;
  /** What is taken out before anything is kept: names of what is known, or patterns. */
  readonly redactions: readonly string[];
}

export interface ConsolePromptLog extends ConsolePromptLogSettings {
  readonly bytes: number;
  /** 0: this gateway keeps no such logs. */
  readonly bytes_max: number;
}

/** A logged request, without its words. */
export interface ConsolePromptEntry {
  readonly id: string;
  readonly time: Time;
  readonly request_id: string;
  readonly api_key_id: string;
  readonly model: string;
  readonly session: string | null;
}

/** A logged request. */
export interface ConsolePrompt extends ConsolePromptEntry {
  /** The JSON of the body that was sent, without files. */
  readonly request: string;
  /** The words, thoughts and arguments of calls that were answered. */
  readonly answer: string;
  /** True: one of both was longer than what is kept. */
  readonly cut: boolean;
}

export type ConsolePromptsQuery = ConsoleListQuery & { readonly session?: string; readonly request_id?: string };

/** What belongs to the account of the session. */
export interface AccountApi {
  'GET /keys': Read<{ items: readonly ConsoleKey[] }>;
  'GET /keys/:key_id': Read<ConsoleKey>;
  /** `secret` is shown in this response only. Needs proof. */
  'POST /keys': Write<ConsoleKeySettings & { name: string }, { key: ConsoleKey; secret: string }>;
  'POST /keys/:key_id': Write<ConsoleKeySettings, ConsoleKey>;
  /** `overlap_seconds`: how long the old secret works, 0 to 30 days, a day by default. Needs proof. */
  'POST /keys/:key_id/rotate': Write<{ overlap_seconds?: number }, { key: ConsoleKey; secret: string }>;
  'POST /keys/:key_id/revoke': Write<NoFields, ConsoleKey>;

  'GET /models': Read<{ items: readonly ConsoleModel[] }>;
  'GET /models/:model': Read<ConsoleModel>;

  /** The body is that of a video or image submission. Answers 200 also when the run would be refused, and says why. */
  'POST /quote': Write<JsonObject, { quote: ConsoleQuote | null; problems: readonly ConsoleProblem[] }>;
  /** As the quote, and runs. The header `Idempotency-Key`, one for each click, makes a double click one task. */
  'POST /runs': Write<JsonObject, { task_id: string }>;
  /**
   * A text request, charged as a run. The body and the answer, a stream of server-sent events among them, are those of
   * `/v1/responses`, `/v1/chat/completions` and `/v1/messages`; only a refusal has the shape of `ConsoleFailure`.
   */
  'POST /text/responses': Write<JsonObject, JsonObject>;
  'POST /text/chat/completions': Write<JsonObject, JsonObject>;
  'POST /text/messages': Write<JsonObject, JsonObject>;
  /** An image, video or sound as an input of a run; `data` in base64. Gone after a day. */
  'POST /uploads': Write<
    { content_type: string; data: string },
    { url: string; content_type: string; bytes: number; expires_at: Time }
  >;

  'GET /usage': Read<ConsoleUsage, ConsoleUsageQuery>;
  'GET /tag-limits': Read<{ items: readonly ConsoleTagLimit[] }>;
  'GET /usage/records': Read<
    ConsoleList<ConsoleUsageRecord>,
    ConsoleExportQuery &
      Omit<ConsoleUsageQuery, 'group_by'> & {
        readonly request_id?: string;
        readonly session?: string;
        readonly end_user?: string;
      }
  >;

  /** Newest first; the requests of one in their order. */
  'GET /agent-sessions': Read<ConsoleList<ConsoleAgentSession>, ConsoleAgentSessionsQuery>;
  'GET /agent-sessions/requests': Read<ConsoleList<ConsoleUsageRecord>, ConsoleSessionRequestsQuery>;

  'GET /prompt-log': Read<ConsolePromptLog>;
  'POST /prompt-log': Write<ConsolePromptLogSettings, ConsolePromptLog>;
  /** Deletes everything that is logged, at once. */
  'POST /prompt-log/clear': Write<NoFields, ConsolePromptLog>;
  'GET /prompt-log/entries': Read<ConsoleList<ConsolePromptEntry>, ConsolePromptsQuery>;
  /** Leaves an audit record. */
  'GET /prompt-log/entries/:entry_id': Read<ConsolePrompt>;
  'POST /prompt-log/entries/:entry_id/remove': Write<NoFields, { id: string; removed: true }>;

  'GET /billing': Read<ConsoleBalance>;
  /** The balance below which the endpoints of the account get `balance.low`; null: never. */
  'POST /billing/notice': Write<{ low_balance: Amount | null }, ConsoleBalance>;
  /** Null: UTC. Of an account with a daily or monthly limit it is set by its operator. */
  'POST /billing/time-zone': Write<{ time_zone: string | null }, ConsoleBalance>;
  'GET /billing/entries': Read<
    ConsoleList<ConsoleEntry>,
    ConsoleExportQuery & { readonly task_id?: string; readonly request_id?: string }
  >;
  'GET /billing/entries/:entry_id': Read<ConsoleEntryExplained>;

  'GET /webhooks/endpoints': Read<{ items: readonly ConsoleWebhookEndpoint[]; event_types: readonly string[] }>;
  /** `secret` is shown in this response only. */
  'POST /webhooks/endpoints': Write<
    { url: string; event_types?: readonly string[] },
    { endpoint: ConsoleWebhookEndpoint; secret: string }
  >;
  'POST /webhooks/endpoints/:endpoint_id/remove': Write<NoFields, { id: string; removed: true }>;
  'POST /webhooks/endpoints/:endpoint_id/rotate-secret': Write<
    NoFields,
    { endpoint: ConsoleWebhookEndpoint; secret: string }
  >;
  'POST /webhooks/endpoints/:endpoint_id/test': Write<NoFields, { delivery_id: string }>;
  'GET /webhooks/deliveries': Read<ConsoleList<ConsoleDelivery>, ConsoleListQuery & { readonly task_id?: string }>;
  'GET /webhooks/deliveries/:delivery_id': Read<ConsoleDelivery & { readonly log: readonly ConsoleDeliveryAttempt[] }>;
  'POST /webhooks/deliveries/:delivery_id/resend': Write<NoFields, ConsoleDelivery>;

  'GET /people': Read<{ people: readonly ConsolePerson[]; invitations: readonly ConsoleInvitation[] }>;
  /** `link` is shown in this response only; it works once, for 72 hours. Needs proof. */
  'POST /people/invitations': Write<
    { role: AccountRole; email?: string },
    { invitation: ConsoleInvitation; link: string }
  >;
  'POST /people/invitations/:invitation_id/withdraw': Write<NoFields, { id: string; withdrawn: true }>;
  /** Needs proof. Ends the sessions of the person in this account. */
  'POST /people/:user_id': Write<{ role: AccountRole }, ConsolePerson>;
  'POST /people/:user_id/remove': Write<NoFields, { user_id: string; removed: true }>;
}
