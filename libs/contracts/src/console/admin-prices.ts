import type { Amount, ConsoleList, ConsoleListQuery, Day, NoFields, Read, Time, Write } from './common.js';

export interface AdminPrice {
  readonly id: string;
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  /** It holds for calls of so many input tokens and more; 0: for all below the first band. */
  readonly from_input_tokens: number;
  readonly amount: Amount;
  readonly per_quantity: number;
  readonly effective_from: Time;
  readonly created_by: string;
  /** The proposal that it came from. */
  readonly proposal_id: string | null;
  /** When it was taken back: since then it holds no more, whatever came before it holds again. */
  readonly withdrawn_at: Time | null;
}

/** Of the variant `default`, below all bands, for one unit and from now on, unless it says otherwise. */
export type AdminNewPrice = Pick<AdminPrice, 'model' | 'unit' | 'amount'> &
  Partial<Pick<AdminPrice, 'variant' | 'from_input_tokens' | 'per_quantity' | 'effective_from'>>;

/** What a new price would have changed in the last 30 days. */
export interface AdminPricePreview extends AdminCostWarnings {
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

/** What prices that begin together did to the book, or would do. */
export interface AdminPricesSet extends AdminCostWarnings {
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
}

/** Prices that a list proposes, without its items. */
export interface AdminPriceProposal {
  readonly id: string;
  readonly source: string;
  /** The address, the upstream, or `file`. */
  readonly origin: string;
  readonly sha256: string;
  readonly factor: string;
  readonly rounding: 'cent' | number | null;
  readonly effective_from: Time | null;
  /** Entries that were read, models whose prices are the same, and entries beyond what is kept. */
  readonly counts: { readonly read: number; readonly unchanged: number; readonly unlisted: number };
  readonly state: 'open' | 'applied' | 'undone' | 'expired';
  readonly created_at: Time;
  readonly created_by: string;
  readonly expires_at: Time;
  readonly applied_at: Time | null;
  readonly applied_by: string | null;
  readonly undone_at: Time | null;
  readonly undone_by: string | null;
}

/** A price as an item has it: `amount` for each `per_quantity` of `unit`. */
export interface AdminItemPrice {
  readonly unit: string;
  readonly variant: string;
  readonly from_input_tokens: number;
  readonly amount: string;
  readonly per_quantity: number;
}

export interface AdminProposalItem {
  /** Of the list. */
  readonly id: string;
  readonly vendor: string | null;
  /** Of ours; null: it is not known which. */
  readonly model: string | null;
  readonly flags: readonly string[];
  /** Whether nothing speaks against it. */
  readonly ticked: boolean;
  readonly suggestions: readonly string[];
  /** Prices without which a band would be incomplete. */
  readonly missing: readonly string[];
  readonly unread: readonly string[];
  readonly moved_bands: readonly number[];
  readonly book: readonly AdminItemPrice[];
  readonly proposed: readonly (AdminItemPrice & {
    /** What the list says for as many. */
    readonly listed: string;
    readonly cost: string | null;
    readonly margin: string | null;
    readonly is_change: boolean;
  })[];
}

/** A proposal with what it says of models of ours. */
export interface AdminPriceProposalDetails extends AdminPriceProposal {
  readonly items: readonly AdminProposalItem[];
  /** How many entries are of no model of ours. */
  readonly others: number;
}

export interface AdminNewPriceProposal {
  source: string;
  url?: string;
  file?: string;
  /** The upstream whose own list it is. */
  upstream?: string;
  /** What the amounts are multiplied by, as decimal text. */
  factor?: string;
  rounding?: 'cent' | number;
  effective_from?: Time;
}

/** What an entry of a list is; null: none of our models. */
export interface AdminPriceName {
  readonly source: string;
  readonly id: string;
  readonly model: string | null;
}

/** A rule of a price list: a factor of the book, or an amount of its own. */
export interface AdminPriceRule {
  readonly id: string;
  readonly model: string;
  readonly unit?: string;
  readonly variant?: string;
  readonly from_input_tokens?: number;
  readonly factor?: string;
  readonly amount?: Amount;
  readonly per_quantity?: number;
  readonly effective_from: Time;
  readonly created_by: string;
}

export type AdminNewPriceRule = Omit<AdminPriceRule, 'id' | 'created_by' | 'effective_from'> &
  Partial<Pick<AdminPriceRule, 'effective_from'>>;

/** A price list with all its rules there were and will be, newest first, and who has it now. */
export interface AdminPriceList {
  readonly id: string;
  readonly name: string;
  readonly created_by: string;
  readonly created_at: Time;
  readonly rules: readonly AdminPriceRule[];
  /** At most 1,000 of them. */
  readonly accounts: readonly { readonly id: string; readonly name: string }[];
  readonly account_count: number;
}

export interface AdminPriceListSummary extends Pick<AdminPriceList, 'id' | 'name' | 'created_by' | 'created_at'> {
  /** Of everything, as it holds now; null: none. */
  readonly factor: string | null;
  readonly rule_count: number;
  readonly account_count: number;
  /** Of three at most. */
  readonly account_names: readonly string[];
}

/** What a change sells below the known cost of an upstream, in words. */
export interface AdminCostWarnings {
  readonly warnings: readonly string[];
}

/** Which usage at which prices: one of `proposal`, `prices` and `list`. */
export interface AdminNewPriceSimulation {
  from?: Day;
  to?: Day;
  proposal?: string;
  /** Of the proposal; those that are ticked unless it says which. */
  items?: readonly string[];
  prices?: readonly AdminNewPrice[];
  list?: string;
}

/** What usage brought, and would have brought. */
export interface AdminSimulatedSum {
  readonly records: number;
  readonly earned_before: Amount;
  readonly earned_after: Amount;
  readonly cost: Amount;
  readonly records_without_cost: number;
  /** Null while a cost is unknown. */
  readonly margin_before: Amount | null;
  readonly margin_after: Amount | null;
}

export interface AdminPriceSimulation {
  readonly from: Day;
  readonly to: Day;
  readonly total: AdminSimulatedSum;
  readonly unpriced_records: number;
  /** Those that change most. */
  readonly models: readonly (AdminSimulatedSum & { readonly model: string })[];
  readonly accounts: readonly (AdminSimulatedSum & { readonly account_id: string; readonly account_name: string })[];
}

/** Prices, lists of them, and what others propose. */
export interface AdminPricesApi {
  /** Those in force; all there were and will be with `history`. */
  'GET /admin/prices': Read<
    { items: readonly AdminPrice[] },
    { readonly model?: string; readonly history?: 'true' | 'false' }
  >;
  'POST /admin/prices/preview': Write<AdminNewPrice, AdminPricePreview>;
  'POST /admin/prices': Write<AdminNewPrice, AdminPrice & AdminCostWarnings>;
  /** Several at once, all or nothing: bands need all their prices. `dry_run` only looks. */
  'POST /admin/prices/set': Write<
    { prices: readonly AdminNewPrice[]; effective_from?: Time; dry_run?: boolean },
    AdminPricesSet
  >;
  'GET /admin/price-proposals': Read<{ items: readonly AdminPriceProposal[] }>;
  'GET /admin/price-proposals/:proposal_id': Read<AdminPriceProposalDetails>;
  /** Entries that are of no model of ours. */
  'GET /admin/price-proposals/:proposal_id/others': Read<
    ConsoleList<AdminProposalItem>,
    ConsoleListQuery & { readonly text?: string }
  >;
  /** Reads a list, and changes nothing. */
  'POST /admin/price-proposals': Write<AdminNewPriceProposal, AdminPriceProposal>;
  'POST /admin/price-proposals/:proposal_id/apply': Write<
    { items: readonly string[] },
    AdminPriceProposal & AdminCostWarnings & { added: number; changed: number }
  >;
  'POST /admin/price-proposals/:proposal_id/undo': Write<
    NoFields,
    { proposal: AdminPriceProposal; added: number; changed: number }
  >;
  'GET /admin/price-names': Read<{ items: readonly AdminPriceName[] }>;
  'POST /admin/price-names': Write<{ source: string; id: string; model: string | null }, AdminPriceName>;
  /** Changes nothing. */
  'POST /admin/price-simulations': Write<AdminNewPriceSimulation, AdminPriceSimulation>;
  'GET /admin/price-lists': Read<{ items: readonly AdminPriceListSummary[] }>;
  'GET /admin/price-lists/:list_id': Read<AdminPriceList>;
  'POST /admin/price-lists': Write<
    { id: string; name: string; rules?: readonly AdminNewPriceRule[] },
    AdminPriceList & AdminCostWarnings
  >;
  'POST /admin/price-lists/:list_id/rules': Write<
    { rules: readonly AdminNewPriceRule[] },
    AdminPriceList & AdminCostWarnings
  >;
  /** Null gives the book. */
  'POST /admin/accounts/:account_id/price-list': Write<
    { list: string | null; effective_from?: Time },
    { account_id: string; list: string | null; effective_from: Time }
  >;
}
