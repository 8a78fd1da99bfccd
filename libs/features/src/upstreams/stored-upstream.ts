import type { JsonObject } from '#contracts';
import { IsUpstreamKey, UpstreamEntry } from '#providers';
import { IsBoolean, Matches } from 'class-validator';
import { REVISION } from './upstream-row.js';

/** The settings of an upstream in the database: those of the file, and whether it is in service. */
export class StoredUpstreamEntry extends UpstreamEntry {
  // Said again: what a class says of a property takes the place of what its parent says.
  @IsUpstreamKey()
  @Matches(/^(?!.*\$\{)/, {
    message: '$property must be the key itself: ${NAME} is filled in from the environment only in UPSTREAMS_FILE',
  })
  declare key?: string;

  @IsBoolean()
  enabled = true;
}

/** An upstream as the database keeps it. */
export interface UpstreamRow {
  readonly id: string;
  readonly protocol: string;
  readonly base_url: string | null;
  readonly vendor_account: string | null;
  readonly api_key_sealed: Buffer | null;
  readonly models: JsonObject;
  readonly embedding_models: JsonObject;
  readonly weight: number;
  readonly priority: number;
  /** Seconds, as in the file. */
  readonly timeouts: JsonObject;
  readonly output_limit_field: string;
  readonly allow: JsonObject;
  readonly fetches_urls: string;
  readonly model_limits: JsonObject;
  readonly translation: JsonObject;
  readonly enabled: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Differs after every change, however it was made; the same at every replica. */
  readonly revision: string;
}

export const UPSTREAM_COLUMNS = `id, protocol, base_url, api_key_sealed, models, weight, priority, timeouts,
  output_limit_field, allow, fetches_urls, model_limits, translation, embedding_models, settings ->> 'vendor_account' as vendor_account, enabled, created_at, updated_at,
  ${REVISION} as revision`;

/** The settings in a row as an operator would send them, the key left out. */
export function settingsOf(row: UpstreamRow): JsonObject {
  const { id, protocol, base_url, models, weight, priority, timeouts, output_limit_field, enabled } = row;
  const { allow, fetches_urls, model_limits, translation, embedding_models, vendor_account } = row;
  const settings = {
    id,
    protocol,
    models,
    embedding_models,
    weight,
    priority,
    timeouts,
    output_limit_field,
    allow,
    fetches_urls,
    model_limits,
    translation,
    enabled,
  };
  return {
    ...settings,
    ...(base_url !== null && { base_url }),
    ...(vendor_account !== null && { vendor_account }),
  };
}
