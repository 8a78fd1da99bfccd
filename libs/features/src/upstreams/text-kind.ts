import { IsBoolean, Matches } from 'class-validator';
import type { JsonObject, JsonValue } from '#contracts';
import { checkUpstream, IsUpstreamKey, UpstreamEntry } from '#providers';
import type { UpstreamKind, UpstreamRow } from './upstream-kind.js';

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

/** Settings with a column of the same name. */
const COLUMNS = [
  'id',
  'protocol',
  'models',
  'embedding_models',
  'weight',
  'priority',
  'timeouts',
  'output_limit_field',
  'allow',
  'fetches_urls',
  'model_limits',
  'translation',
  'enabled',
] as const;

export interface TextUpstreamRow extends UpstreamRow, Readonly<Record<Exclude<Column, keyof UpstreamRow>, JsonValue>> {
  readonly base_url: string | null;
  /** Settings without a column of their own, in the words of the file. */
  readonly settings: JsonObject;
}
type Column = (typeof COLUMNS)[number];

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
  written: [...COLUMNS, 'base_url', 'settings'],
  drains: false,
  settingsOf: (row) => ({
    ...Object.fromEntries(COLUMNS.map((name) => [name, row[name]])),
    ...settingsIn(row.settings),
    ...(row.base_url !== null && { base_url: row.base_url }),
  }),
  check: (sent) => checkUpstream(StoredTextEntry, sent),
  valuesOf: (entry) => [
    ...COLUMNS.map((name) => entry[name]),
    entry.protocol === 'sandbox' ? null : entry.base_url,
    settingsIn(entry),
  ],
  movedBy: ({ base_url: before }, entry) => {
    if (entry.protocol === 'sandbox') return undefined;
    const isSame = before !== null && new URL(entry.base_url).origin === new URL(before).origin;
    return isSame ? undefined : 'base_url';
  },
};
