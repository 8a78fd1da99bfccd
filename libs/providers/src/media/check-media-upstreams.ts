import {
  familyOf,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MODEL_IDS,
  type ModelFamily,
  nearestName,
} from '#contracts';
import {
  checkFields,
  type CheckedUpstreams,
  type FieldPath,
  mistakesInList,
  type UpstreamMistake,
} from '../check-fields.js';
import {
  keyOf,
  makeableModels,
  MediaModelEntry,
  type MediaUpstreamEntry,
  MediaUpstreamsFile,
  servedModels,
} from './media-upstream-entry.js';
import type { MediaCodec } from './http/media-codec.js';
import { MEDIA_CODECS } from './media-protocols.js';
import { AMOUNT_RULE, mistakesInRates, mistakesInUnit, partsOf } from '../vendor-amounts.js';
import { traitMistakes } from './traits/media-traits.js';

/** Reads the list of media upstreams, already parsed. */
export function checkMediaUpstreamsFile(
  sent: unknown,
  reach: CallbackReach = REACHED,
): CheckedUpstreams<readonly MediaUpstreamEntry[]> {
  const { checked, mistakes } = checkFields(MediaUpstreamsFile, sent);
  const { media_upstreams: entries } = checked;
  if (mistakes.length > 0) return { checked: entries, mistakes };
  const inEntry = (entry: MediaUpstreamEntry, path: FieldPath) => mistakesInEntry(entry, path, reach);
  return { checked: entries, mistakes: mistakesInList('media_upstreams', entries, inEntry) };
}

/** Whether vendors can call us: PUBLIC_BASE_URL is set. */
export interface CallbackReach {
  readonly isReached: boolean;
}
const REACHED: CallbackReach = { isReached: true };

/** Reads the settings of one media upstream, as `MediaUpstreamEntry` or a class that adds fields to it says. */
export function checkMediaUpstream<Entry extends MediaUpstreamEntry>(
  entryClass: new () => Entry,
  sent: unknown,
  reach: CallbackReach = REACHED,
): CheckedUpstreams<Entry> {
  const { checked, mistakes } = checkFields(entryClass, sent);
  return { checked, mistakes: mistakes.length > 0 ? mistakes : mistakesInEntry(checked, [], reach) };
}

const mistakesInEntry = (
  entry: MediaUpstreamEntry,
  path: FieldPath,
  { isReached }: CallbackReach,
): UpstreamMistake[] => [
  ...(entry.callbacks && !isReached
    ? [{ path: [...path, 'callbacks'], rule: 'needs PUBLIC_BASE_URL: without it no vendor can call' }]
    : []),
  ...mistakesInAccess(entry, path),
  ...(entry.models === 'all' ? mistakesInExcept(entry, path) : mistakesInModels(entry, path)),
  ...mistakesInTraits(entry, path),
  ...mistakesInCosts(entry, path),
  ...mistakesInSpending(entry, path),
];

function mistakesInAccess(entry: MediaUpstreamEntry, path: FieldPath): UpstreamMistake[] {
  const { protocol, base_url: baseUrl } = entry;
  if (protocol === 'sandbox') {
    return (['key', 'base_url', 'service_account_file'] as const)
      .filter((field) => entry[field] !== undefined)
      .map((field) => ({ path: [...path, field], rule: 'is not allowed here: the sandbox calls no vendor' }));
  }
  const codec = MEDIA_CODECS[protocol];
  const mistakes = [...mistakesInKey(entry, codec, path), ...mistakesInSettings(entry, codec, path)];
  if (entry.callbacks && codec.callback === undefined)
    mistakes.push({
      path: [...path, 'callbacks'],
      rule: `is not allowed here: protocol ${protocol} makes no callbacks`,
    });
  if (baseUrl === undefined && codec.defaultBaseUrl === undefined)
    mistakes.push({
      path: [...path, 'base_url'],
      rule: `is required: protocol ${protocol} has no default address`,
    });
  if (baseUrl !== undefined && isVendorInTheClear(baseUrl))
    mistakes.push({ path: [...path, 'base_url'], rule: 'must begin with https: the key would be sent in the clear' });
  return mistakes;
}

/** The vendors' own; what an operator puts in front of them may speak http. */
const VENDOR_DOMAINS = Object.values(MEDIA_CODECS).flatMap(({ domains }) => domains);

function isVendorInTheClear(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'http:' && VENDOR_DOMAINS.some((domain) => `.${hostname}`.endsWith(`.${domain}`));
}

function mistakesInKey(entry: MediaUpstreamEntry, codec: MediaCodec, path: FieldPath): UpstreamMistake[] {
  const { protocol, key, service_account_file: file } = entry;
  const field = file === undefined ? 'key' : 'service_account_file';
  const mistake = (rule: string): UpstreamMistake[] => [{ path: [...path, field], rule }];
  if (file !== undefined && protocol !== 'vertex-veo')
    return mistake('is not allowed here: only protocol vertex-veo reads it');
  if (file !== undefined && key !== undefined) return mistake('excludes key: send one of them');
  try {
    const found = keyOf(entry);
    if (found === undefined) return mistake(`is required: protocol ${protocol} sends a key`);
    const rule = codec.keyMistake?.(found);
    return rule === undefined ? [] : mistake(rule);
  } catch (error) {
    return mistake(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}

function mistakesInSettings({ settings, protocol }: MediaUpstreamEntry, codec: MediaCodec, path: FieldPath) {
  const found = codec.settingsMistakes
    ? codec.settingsMistakes(settings)
    : Object.keys(settings).map((name) => [name, `is not allowed here: protocol ${protocol} has no settings`] as const);
  return found.map(([name, rule]): UpstreamMistake => ({ path: [...path, 'settings', name], rule }));
}

function mistakesInExcept({ protocol, except = [] }: MediaUpstreamEntry, path: FieldPath): UpstreamMistake[] {
  const made = makeableModels(protocol);
  const unknown = except.flatMap((model, index) =>
    made.has(model) ? [] : [{ path: [...path, 'except', index], rule: unknownModel(model, protocol) }],
  );
  const left = [...made.keys()].some((model) => !except.includes(model));
  return left ? unknown : [...unknown, { path: [...path, 'except'], rule: 'must leave at least one model' }];
}

function mistakesInModels(entry: MediaUpstreamEntry, path: FieldPath): UpstreamMistake[] {
  const { models, protocol, except } = entry;
  const named = Object.entries(models);
  const made = makeableModels(protocol);
  const mistakes: UpstreamMistake[] = named.flatMap(([model, said]) => {
    const at = [...path, 'models', model];
    if (!made.has(model)) return [{ path: at, rule: unknownModel(model, protocol) }];
    return checkFields(MediaModelEntry, isJsonObject(said) ? said : { name: said }).mistakes.map((mistake) => ({
      ...mistake,
      path: isJsonObject(said) ? [...at, ...mistake.path] : at,
    }));
  });
  if (named.length === 0) mistakes.push({ path: [...path, 'models'], rule: 'must name at least one model' });
  if (except !== undefined) mistakes.push({ path: [...path, 'except'], rule: 'needs models: all' });
  return mistakes;
}

function unknownModel(model: string, protocol: string): string {
  if (familyOf(model)) return `is not made by protocol ${protocol}`;
  const near = nearestName(model, MODEL_IDS);
  return near === null ? 'is no model of ours' : `is no model of ours; did you mean ${near}?`;
}

/** The names were sent by somebody, and are perhaps none. */
const isText = (name: unknown): name is string => typeof name === 'string';

function mistakesInTraits(entry: MediaUpstreamEntry, path: FieldPath): UpstreamMistake[] {
  const { model_traits: traits, protocol } = entry;
  if (traits === undefined) return [];
  if (protocol === 'sandbox')
    return [{ path: [...path, 'model_traits'], rule: 'is not allowed here: the sandbox makes every order' }];
  const served = [...servedModels(entry)].flatMap(([model, { name }]) => {
    const family: ModelFamily | undefined = familyOf(model);
    return family && isText(name) ? [[model, name, family] as const] : [];
  });
  return traitMistakes(traits, served).map(([at, rule]) => ({ path: [...path, 'model_traits', ...at], rule }));
}

function mistakesInCosts({ costs, protocol }: MediaUpstreamEntry, path: FieldPath): UpstreamMistake[] {
  const { unit, rates = {}, ...amounts } = costs;
  const models = Object.entries(amounts);
  const mistakes = models.flatMap(([model, said]): UpstreamMistake[] => {
    const at = [...path, 'costs', model];
    if (!makeableModels(protocol).has(model)) return [{ path: at, rule: unknownModel(model, protocol) }];
    return isJsonObject(said) ? mistakesInVariants(model, said, at) : amountMistakes(said, at);
  });
  return [
    ...mistakes,
    ...mistakesInUnit(unit, models.length > 0, [...path, 'costs', 'unit']),
    ...mistakesInRates(rates, [...path, 'costs', 'rates']),
  ];
}

/** A bound of what is spent counts what `costs` say, so that they must say it of every model. */
function mistakesInSpending(entry: MediaUpstreamEntry, path: FieldPath): UpstreamMistake[] {
  const { limits, costs } = entry;
  const field = (['spend_per_day', 'spend_per_month'] as const).find((name) => limits[name] !== undefined);
  if (field === undefined) return [];
  const uncosted = [...servedModels(entry).keys()].find((model) => {
    const { [model]: said } = costs;
    const family: ModelFamily | undefined = familyOf(model);
    const variants = family?.variants[model] ?? [];
    return !variants.every((variant) => partsOf(isJsonObject(said) ? said[variant] : said) !== undefined);
  });
  if (uncosted === undefined) return [];
  return [
    {
      path: [...path, 'limits', field],
      rule: `needs costs of every model; ${uncosted} has none, or not for each price variant`,
    },
  ];
}

const amountMistakes = (said: JsonValue, path: FieldPath): UpstreamMistake[] =>
  partsOf(said) === undefined ? [{ path, rule: AMOUNT_RULE }] : [];

function mistakesInVariants(model: string, said: JsonObject, path: FieldPath): UpstreamMistake[] {
  const family: ModelFamily | undefined = familyOf(model);
  const known: readonly string[] = family?.variants[model] ?? [];
  return Object.entries(said).flatMap(([variant, amount]) =>
    known.includes(variant)
      ? amountMistakes(amount, [...path, variant])
      : [{ path: [...path, variant], rule: `is not a price variant of ${model}, which has ${known.join(', ')}` }],
  );
}
