import type { JsonObject } from '../json.js';
import type { Amount, ConsoleListQuery, Day, Time } from './common.js';

/** The money of an account. `available + held` came in and is not spent. */
export interface ConsoleBalance {
  /** Free to spend; below zero only when `is_unlimited`. */
  readonly available: Amount;
  /** Reserved for open work. */
  readonly held: Amount;
  readonly used: Amount;
  readonly owed: Amount;
  readonly is_unlimited: boolean;
  /** Its webhook endpoints get `balance.low` once when less than this is left; null: never. */
  readonly low_balance: Amount | null;
  /** In which the account has its days and months: an IANA name. */
  readonly time_zone: string;
  /** What the account may spend in a day and in a month. */
  readonly limits: readonly ConsoleSpendLimit[];
}

/** A limit that begins again with each day or month of the account's time zone. */
export interface ConsoleSpendLimit {
  readonly period: 'day' | 'month';
  readonly limit: Amount;
  /** Of work that has ended since the period began, and by open work. */
  readonly spent: Amount;
  readonly held: Amount;
  readonly resets_at: Time;
}

/** What the work under a tag may cost in a day and in a month of the account's time zone; null: no limit. */
export interface ConsoleTagLimit {
  readonly tag: string;
  readonly daily_limit: Amount | null;
  readonly monthly_limit: Amount | null;
  readonly spent_today: Amount;
  readonly spent_this_month: Amount;
  readonly held: Amount;
}

/** A price as people read it: `amount` for each `per_quantity` of `unit`. */
export interface ConsolePrice {
  readonly unit: string;
  readonly variant: string;
  /** Of a band alone: it holds for calls of so many input tokens and more. */
  readonly from_input_tokens?: number;
  readonly amount: Amount;
  readonly per_quantity: number;
  readonly currency: string;
}

/** What a request costs and how it was understood. */
export interface ConsoleQuote {
  readonly model: string;
  readonly path: string;
  readonly mode: string;
  /** What a run holds, and the most that is charged. */
  readonly amount: Amount;
  readonly unit_price: Amount;
  readonly quantity: number;
  readonly per: string;
  readonly variant: string;
  readonly settle: string;
  /** With its defaults filled in; of inline files only the type. */
  readonly request: JsonObject;
  readonly notices: readonly string[];
  /** From when another price is set already. */
  readonly valid_until: Time | null;
}

/** Sums of usage; dimensions that were not asked for are null. */
export interface ConsoleUsageSum {
  readonly day: Day | null;
  readonly model: string | null;
  readonly api_key_id: string | null;
  readonly tag: string | null;
  readonly requests: number;
  readonly failed_requests: number;
  readonly amount: Amount;
  readonly quantity: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** Days from `from` to `to`, both included; the last 30 by default, at most 366. */
export interface ConsoleUsageQuery {
  readonly from?: Day;
  readonly to?: Day;
  readonly tag?: string;
  /** Some of day, model, key, or of day and tag, separated by commas; day, model, key by default. */
  readonly group_by?: string;
  readonly format?: 'json' | 'csv';
}

export interface ConsoleUsage {
  readonly from: Day;
  readonly to: Day;
  /** That of the days. */
  readonly time_zone: string;
  readonly items: readonly ConsoleUsageSum[];
  /** Of all items. */
  readonly total: Omit<ConsoleUsageSum, 'day' | 'model' | 'api_key_id' | 'tag'>;
  /** Of all that was ever used. */
  readonly owed: Amount;
  /** The names of the keys that the items name. */
  readonly key_names: Readonly<Record<string, string>>;
}

/** One line of a price: `amount = price x quantity / per_quantity`. */
export interface ConsoleChargeLine {
  readonly unit: string;
  readonly variant: string;
  readonly quantity: number;
  readonly unit_price: Amount | null;
  readonly per_quantity: number | null;
  readonly amount: Amount;
  readonly price_id: string | null;
  /** Where the model has bands: the beginning of the one that holds, and the input that decided it. */
  readonly from_input_tokens?: number;
  readonly band_tokens?: number;
  /** The price list and the rule that made the price, where the book alone did not. */
  readonly price_list?: string;
  readonly price_rule?: string;
}

/** One request or task with its price. */
export interface ConsoleUsageRecord {
  readonly id: string;
  readonly time: Time;
  readonly api_key_id: string;
  readonly kind: string;
  readonly model: string;
  readonly task_id: string | null;
  readonly request_id: string;
  readonly status: string;
  readonly amount: Amount;
  readonly owed: Amount;
  readonly lines: readonly ConsoleChargeLine[];
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  readonly quantity: number;
  readonly duration_ms: number | null;
  /** Who and what it was for, as its client and its key say. */
  readonly session: string | null;
  readonly agent: string | null;
  readonly end_user: string | null;
  readonly tags: readonly string[] | null;
}

/** The requests of one session of an agent, in the days that were asked for. */
export interface ConsoleAgentSession {
  readonly session: string;
  /** Of its first and its last request. */
  readonly began_at: Time;
  readonly time: Time;
  readonly requests: number;
  readonly failed_requests: number;
  /** At most twenty of them. */
  readonly models: readonly string[];
  /** How many parts of the agent asked. */
  readonly agents: number;
  readonly end_user: string | null;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly amount: Amount;
}

/** As operators see it, over all accounts. */
export interface AdminAgentSession extends ConsoleAgentSession {
  readonly account_id: string;
}

export interface AdminSessionRequest extends ConsoleUsageRecord {
  readonly upstream: string | null;
  /** What its vendor took, in the unit of balances; null: unknown. */
  readonly cost_worth: Amount | null;
}

/** Days as in `ConsoleUsageQuery`; `text` is a part of the session's name. */
export interface ConsoleAgentSessionsQuery extends ConsoleListQuery {
  readonly from?: Day;
  readonly to?: Day;
  readonly text?: string;
}

/** The requests of one session come in their order. */
export interface ConsoleSessionRequestsQuery extends ConsoleListQuery {
  readonly from?: Day;
  readonly to?: Day;
  readonly session: string;
}

/** A movement of money: out of the book `debit`, into the book `credit`. */
export interface ConsoleEntry {
  readonly id: string;
  readonly time: Time;
  readonly kind: string;
  readonly debit: string;
  readonly credit: string;
  readonly amount: Amount;
  readonly api_key_id: string | null;
  readonly task_id: string | null;
  readonly request_id: string | null;
  readonly reference: string | null;
  /** What it paid for; null for money that paid for no work, and for work under way. */
  readonly usage: {
    readonly id: string;
    readonly model: string;
    readonly status: string;
    readonly amount: Amount;
    readonly quantity: number;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly session: string | null;
    readonly agent: string | null;
    readonly end_user: string | null;
    readonly tags: readonly string[] | null;
    readonly lines: readonly ConsoleChargeLine[];
  } | null;
}

/** An entry with all that belongs to the same work: hold, capture, release and refunds cancel visibly. */
export interface ConsoleEntryExplained {
  readonly entry: ConsoleEntry;
  /** Earliest first, the entry among them. */
  readonly related: readonly ConsoleEntry[];
  readonly key_name: string | null;
  /** The prices that the lines name. */
  readonly prices: readonly (ConsolePrice & { readonly id: string; readonly effective_from: Time })[];
}
