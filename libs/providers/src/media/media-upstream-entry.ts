import { readFileSync } from 'node:fs';
import { Type } from 'class-transformer';
import {
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { isJsonObject, type JsonObject, type JsonValue, MODEL_IDS } from '#contracts';
import { IsSettings, IsUpstreamAddress, IsUpstreamName, RoutedEntry } from '../routed-entry.js';
import { AMOUNT_RULE, partsOf } from '../vendor-amounts.js';
import { REFERENCE_WAYS, type ReferenceWay } from './http/media-codec.js';
import { MEDIA_CODECS, MEDIA_PROTOCOLS, type MediaProtocol } from './media-protocols.js';

const Rate = (): PropertyDecorator => (target, property) => {
  IsOptional()(target, property);
  IsNumber()(target, property);
  Min(1 / 60)(target, property);
  Max(10_000)(target, property);
};

const Count =
  (most: number): PropertyDecorator =>
  (target, property) => {
    IsOptional()(target, property);
    IsInt()(target, property);
    Min(1)(target, property);
    Max(most)(target, property);
  };

const Amount = (): PropertyDecorator => (target, property) => {
  IsOptional()(target, property);
  ValidateBy({
    name: 'isAmount',
    validator: {
      validate: (value: JsonValue) => partsOf(value) !== undefined,
      defaultMessage: () => `$property ${AMOUNT_RULE}`,
    },
  })(target, property);
};

/** What the vendor account allows, over all processes together. What is left out is not limited. */
export class MediaLimitsEntry {
  /** Orders that the vendor works on at once. */
  @Count(100_000)
  running?: number;

  @IsOptional()
  @IsNumber()
  @Min(1)
  @Max(10_000)
  starts_per_minute?: number;

  @Rate()
  checks_per_second?: number;

  /** Orders that this upstream is handed in a day of UTC; the same of a month. */
  @Count(10_000_000)
  orders_per_day?: number;

  @Count(10_000_000)
  orders_per_month?: number;

  /** What its orders of a day of UTC may cost by `costs`, in their unit; the same of a month. */
  @Amount()
  spend_per_day?: number | string;

  @Amount()
  spend_per_month?: number | string;
}

/** A model under a name of the vendor's, with settings of its own. */
export class MediaModelEntry {
  @IsString()
  @Matches(/^[\x21-\x7e]{1,256}$/, { message: "$property must be the model's name at the upstream" })
  name!: string;

  @IsOptional()
  @IsIn(REFERENCE_WAYS)
  references?: ReferenceWay;
}

/** One upstream of media, in UPSTREAMS_FILE and in the admin API alike. */
export class MediaUpstreamEntry extends RoutedEntry {
  @IsIn(MEDIA_PROTOCOLS)
  protocol!: MediaProtocol;

  /** Absent: the protocol's own address, where it has one. A region is an address. */
  @IsOptional()
  @IsUpstreamAddress()
  base_url?: string;

  /** What the vendor's limits belong to: entries of one account share limits and cooldowns. Absent: the entry's own id. */
  @IsOptional()
  @IsUpstreamName()
  vendor_account?: string;

  /** In UPSTREAMS_FILE instead of `key`: the key file of a service account, read at start. */
  @IsOptional()
  @Matches(/^\S.{0,1023}$/, { message: '$property must be the path of a file' })
  service_account_file?: string;

  /** What only this protocol has. */
  @IsObject()
  settings: JsonObject = {};

  /** Public model to the vendor's name for it, or `all` that the protocol can make. */
  @ValidateIf(({ models }: MediaUpstreamEntry) => models !== 'all')
  @IsObject({ message: '$property must be "all" or list models' })
  models!: 'all' | JsonObject;

  /** Models that `models: all` leaves out. */
  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  except?: string[];

  /** Only these customers' accounts reach it; empty: all. */
  @IsArray()
  @Matches(/^[\w-]{1,128}$/, { each: true, message: '$property must be a list of account ids' })
  only_accounts: string[] = [];

  @IsSettings(() => MediaLimitsEntry)
  limits = new MediaLimitsEntry();

  /** Absent: as the protocol prefers. */
  @IsOptional()
  @IsIn(REFERENCE_WAYS)
  references?: ReferenceWay;

  /** Model or pattern to field to what it allows here, in place of what is shipped. */
  @IsOptional()
  @IsObject()
  model_traits?: JsonObject;

  /** Whether orders carry an address of ours that the vendor may call; needs PUBLIC_BASE_URL. */
  @IsBoolean()
  callbacks = false;

  /** How to end a task whose call was lost where the vendor cannot say whether it took the order. */
  @IsIn(['fail', 'repeat_once'])
  lost_calls: 'fail' | 'repeat_once' = 'fail';

  /**
   * `unit`, and for each model what the vendor takes for a second or an image: a number, or one for each price variant. `rates`: what
   * one of a vendor's units is worth in the unit of balances, a number or a list of `{ rate, effective_from }`.
   */
  @IsObject()
  costs: JsonObject = {};
}

export class MediaUpstreamsFile {
  @IsArray()
  @ArrayMinSize(1)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => MediaUpstreamEntry)
  media_upstreams!: MediaUpstreamEntry[];
}

/** The key of an entry as it is there, or the content of its key file in base64. @throws what reading the file throws. */
export const keyOf = ({
  key,
  service_account_file: file,
}: Pick<MediaUpstreamEntry, 'key' | 'service_account_file'>): string | undefined =>
  key ?? (file === undefined ? undefined : readFileSync(file).toString('base64'));

export interface ServedModel {
  readonly name: string;
  readonly references?: ReferenceWay | undefined;
}

/** The models that a protocol has a mapping for, with the vendor's usual name of each. */
export const makeableModels = (protocol: MediaProtocol): ReadonlyMap<string, string> =>
  protocol === 'sandbox' ? new Map(MODEL_IDS.map((model) => [model, model])) : MEDIA_CODECS[protocol].models;

/** Public model to what an entry says of it. Of use only for an entry without mistakes. */
export function servedModels(entry: MediaUpstreamEntry): ReadonlyMap<string, ServedModel> {
  const { models, except = [], protocol, references } = entry;
  if (models === 'all') {
    const all = [...makeableModels(protocol)].filter(([model]) => !except.includes(model));
    return new Map(all.map(([model, name]) => [model, { name, references }]));
  }
  return new Map(
    Object.entries(models).map(([model, said]) => {
      const settings = (isJsonObject(said) ? said : { name: said }) as unknown as ServedModel;
      return [model, { references, ...settings }];
    }),
  );
}
