import type { JsonObject } from '../json.js';
import type { ModelTrait } from '../media-upstream.js';
import type { ModelTraits } from '../text/model-traits.js';
import type { Amount, Day, Time } from './common.js';

/** An upstream with how it does. Its settings are those of UPSTREAMS_FILE; its key is never shown. */
export interface AdminUpstream {
  readonly id: string;
  readonly kind: 'text' | 'media';
  readonly source: 'file' | 'database';
  readonly settings: JsonObject;
  readonly enabled: boolean;
  readonly key_set: boolean;
  readonly key_ends_with: string | null;
  readonly problem: string | null;
  readonly created_at: Time | null;
  readonly updated_at: Time | null;
  readonly health: {
    /** `off`: not enabled. `problem`: says why. `cooling_down`: takes nothing until `resumes_at`. */
    readonly state: 'serving' | 'cooling_down' | 'off' | 'problem';
    readonly resumes_at: Time | null;
    /** Calls that ended within the last 5 minutes, at all replicas. Times of texts: until the reply was there, or began. */
    readonly calls: {
      readonly ended: number;
      readonly succeeded: number;
      readonly p50_ms: number | null;
      readonly p95_ms: number | null;
    };
    /** The newest failure of a call. */
    readonly last_error: {
      readonly time: Time;
      readonly status: number | null;
      readonly code: string | null;
      readonly message: string | null;
    } | null;
  };
}

/** What tasks and text requests brought and what they cost; dimensions that were not asked for are null, or absent. */
export interface AdminMargin {
  readonly day: Day | null;
  readonly upstream: string | null;
  readonly model: string | null;
  readonly account?: string;
  readonly kind?: string;
  /** The first count of input tokens of the price band; 0: the base. */
  readonly band?: number;
  /** What has several tags counts under each of them; null: what has none. */
  readonly tag?: string | null;
  /** That the upstream was handed. */
  readonly tasks: number;
  readonly completed_tasks: number;
  /** Charged, less what was refunded on these days. */
  readonly earned: Amount;
  /** What vendors took, each in a unit of its own. */
  readonly costs: readonly { readonly unit: string; readonly amount: Amount }[];
  /** All known costs in the unit of balances. */
  readonly cost: Amount;
  readonly tasks_without_cost: number;
  /** Earned less cost; null while the cost of a completed task is not known. */
  readonly margin: Amount | null;
}

export interface AdminMargins {
  readonly from: Day;
  readonly to: Day;
  readonly items: readonly AdminMargin[];
  /** Of all items. */
  readonly total: Omit<AdminMargin, 'day' | 'upstream' | 'model' | 'account' | 'kind' | 'band' | 'tag' | 'costs'>;
}

/** Days from `from` to `to`, both included; the last 30 by default, at most 366. */
export interface AdminMarginsQuery {
  readonly from?: Day;
  readonly to?: Day;
  /** Some of day, upstream, model, account, kind, band, tag, separated by commas; upstream and model by default. */
  readonly group_by?: string;
}

/** Whether text conversations stay at one upstream, what that saves, and why they move. */
export interface AdminConversations {
  /** When the process that answers began to count. */
  readonly since: Time;
  readonly upstreams: readonly {
    readonly upstream: string;
    /** Requests of this process by what became of their conversation; `void`: its upstream is gone or has another key. */
    readonly kept: number;
    readonly moved: number;
    readonly void: number;
    readonly new: number;
    /** Of all processes in the last 24 hours. */
    readonly input_tokens: number;
    readonly cached_input_tokens: number;
  }[];
  /** Why conversations moved, the most frequent first. */
  readonly moves: readonly { readonly reason: string; readonly count: number }[];
}

/** What a call that needs the key of an upstream found. */
export interface AdminUpstreamProof {
  readonly id: string;
  readonly ok: boolean;
  readonly problem: string | null;
  /** What to check, or to know of the vendor account; null when there is nothing to say. */
  readonly message: string | null;
  /** What the vendor said; null when all is well. */
  readonly vendor: {
    readonly status: number | null;
    readonly code: string | null;
    readonly message: string | null;
  } | null;
  /** The vendor's id of the call, for its support. */
  readonly request_id: string | null;
  /** How far the vendor's clock is ahead of ours; null within one minute. */
  readonly clock_skew_ms: number | null;
  /** By model, what its vendor takes, where that is less than the catalogue allows. */
  readonly traits: Readonly<Record<string, readonly ModelTrait[] | ModelTraits>>;
  /** Of a text upstream. */
  readonly models?: readonly {
    readonly model: string;
    readonly upstream_model: string;
    /** Whether the vendor lists it; null where it has no list. */
    readonly listed: boolean | null;
  }[];
}
