import type { Amount, Read } from './common.js';
import type { ConsoleBalance } from './money.js';
import type { ConsoleTask } from './tasks.js';

/** Something that the user should check. */
export interface ConsoleWarning {
  readonly code:
    'balance_low' | 'balance_empty' | 'owing' | 'webhooks_failing' | 'keys_expiring' | 'no_model_available';
  readonly message: string;
}

/** The first page. */
export interface ConsoleOverview {
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
export interface OverviewApi {
  'GET /overview': Read<ConsoleOverview>;
}
