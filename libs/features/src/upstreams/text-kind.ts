import { IsBoolean, Matches } from 'class-validator';
import type { JsonObject } from '#contracts';
import { checkUpstream, IsUpstreamKey, UpstreamEntry } from '#providers';
import { REVISION, type UpstreamKind, type UpstreamRow } from './upstream-kind.js';

/** The settings of a text upstream in the database: those of the file, and whether it is in service. */
export class StoredTextEntry extends UpstreamEntry {
  // Said again: what a class says of a property takes the place of what its parent says.
  @IsUpstreamKey()
  @Matches(/^(?!.*\$\{)/, {
    message: '$property must be the key itself: ${NAME} is filled in from the environment only in UPSTREAMS_FILE',
  })
  declare key?: string;

  @IsBoolean()
  enabled = true;
}

export interface TextUpstreamRow extends UpstreamRow {
  readonly protocol: string;
  readonly base_url: string | null;
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
  /** Settings without a column of their own, in the words of the file. */
  readonly settings: JsonObject;
}

/** Those without a column of their own. What a later version added to them is not read by this one, and lost when it changes the row. */
const SETTINGS = [
  'vendor_account',
  'costs',
  'reports_cost',
  'refuse_below_cost',
  'mends_finish_reason',
  'model_traits',
  'sticky',
  'pass_headers',
] as const;
const settingsIn = (said: JsonObject | StoredTextEntry): JsonObject =>
  Object.fromEntries(SETTINGS.flatMap((name) => (said[name] === undefined ? [] : [[name, said[name]]])));

/** Upstreams of text, for whatever follows and changes them. */
export const TEXT_KIND: UpstreamKind<TextUpstreamRow, StoredTextEntry> = {
  kind: 'text',
  name: 'an upstream',
  shown: {},
  columns: `id, protocol, base_url, api_key_sealed, models, weight, priority, timeouts, output_limit_field, allow,
    fetches_urls, model_limits, translation, embedding_models, settings, enabled,
    created_at, updated_at, ${REVISION}`,
  written:
    `id, protocol, base_url, models, weight, priority, timeouts, output_limit_field, enabled, allow, fetches_urls,
    model_limits, translation, embedding_models, settings, api_key_sealed`.split(/,\s+/),
  drains: false,
  settingsOf: (row) => ({
    id: row.id,
    protocol: row.protocol,
    models: row.models,
    embedding_models: row.embedding_models,
    weight: row.weight,
    priority: row.priority,
    timeouts: row.timeouts,
    output_limit_field: row.output_limit_field,
    allow: row.allow,
    fetches_urls: row.fetches_urls,
    model_limits: row.model_limits,
    translation: row.translation,
    ...settingsIn(row.settings),
    enabled: row.enabled,
    ...(row.base_url !== null && { base_url: row.base_url }),
  }),
  check: (sent) => checkUpstream(StoredTextEntry, sent),
  valuesOf: (entry) => [
    entry.id,
    entry.protocol,
    entry.protocol === 'sandbox' ? null : entry.base_url,
    JSON.stringify(entry.models),
    entry.weight,
    entry.priority,
    JSON.stringify(entry.timeouts),
    entry.output_limit_field,
    entry.enabled,
    JSON.stringify(entry.allow),
    entry.fetches_urls,
    JSON.stringify(entry.model_limits),
    JSON.stringify(entry.translation),
    JSON.stringify(entry.embedding_models),
    JSON.stringify(settingsIn(entry)),
  ],
  movedBy: ({ base_url: before }, entry) => {
    if (entry.protocol === 'sandbox') return undefined;
    const isSame = before !== null && new URL(entry.base_url).origin === new URL(before).origin;
    return isSame ? undefined : 'base_url';
  },
};
