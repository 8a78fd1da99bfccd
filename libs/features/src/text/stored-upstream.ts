import type { JsonObject } from '#contracts';
import type { SecretSealer } from '#platform';
import { IsUpstreamKey, UpstreamEntry } from '#providers';
import { IsBoolean, Matches } from 'class-validator';

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
  readonly api_key_sealed: Buffer | null;
  readonly models: JsonObject;
  readonly weight: number;
  readonly priority: number;
  /** Seconds, as in the file. */
  readonly timeouts: JsonObject;
  readonly output_limit_field: string;
  readonly allow: JsonObject;
  readonly fetches_urls: string;
  readonly model_limits: JsonObject;
  readonly enabled: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Differs after every change, however it was made; the same at every replica. */
  readonly revision: string;
}

/** What changes when anything in a row of `upstream` does. */
export const REVISION = 'left(md5(upstream::text), 12)';

export const UPSTREAM_COLUMNS = `id, protocol, base_url, api_key_sealed, models, weight, priority, timeouts,
  output_limit_field, allow, fetches_urls, model_limits, enabled, created_at, updated_at, ${REVISION} as revision`;

/** A sealed key opens for the upstream it was sealed for and no other. */
const ownerOf = (id: string): string => `upstream ${id}`;

export const sealUpstreamKey = (sealer: SecretSealer, id: string, key: string): Buffer => sealer.seal(key, ownerOf(id));

/** The key of an upstream, undefined when it has none. @throws Error when it was sealed under another KEY_PEPPER. */
export const openUpstreamKey = (
  sealer: SecretSealer,
  { id, api_key_sealed: sealed }: UpstreamRow,
): string | undefined => (sealed === null ? undefined : sealer.open(sealed, ownerOf(id)));

/** The settings in a row as an operator would send them, the key left out. */
export function settingsOf(row: UpstreamRow): JsonObject {
  const { id, protocol, base_url, models, weight, priority, timeouts, output_limit_field, enabled } = row;
  const { allow, fetches_urls, model_limits } = row;
  const settings = {
    id,
    protocol,
    models,
    weight,
    priority,
    timeouts,
    output_limit_field,
    allow,
    fetches_urls,
    model_limits,
    enabled,
  };
  return base_url === null ? settings : { ...settings, base_url };
}
