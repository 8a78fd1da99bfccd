import { isJsonObject, MODEL_IDS, familyOf, nearestName } from '#contracts';
import { checkFields, type CheckedUpstreams, type FieldPath, type UpstreamMistake } from '../text/check-upstreams.js';
import { keyOf } from './entry-key.js';
import type { MediaCodec } from './http/media-codec.js';
import { MEDIA_CODECS } from './media-protocols.js';
import { MediaModelEntry, type MediaUpstreamEntry, MediaUpstreamsFile } from './media-upstream-entry.js';
import { makeableModels } from './served-models.js';

/** Reads the list of media upstreams, already parsed. */
export function checkMediaUpstreamsFile(sent: unknown): CheckedUpstreams<readonly MediaUpstreamEntry[]> {
  const { checked, mistakes } = checkFields(MediaUpstreamsFile, sent);
  const { media_upstreams: entries } = checked;
  return { checked: entries, mistakes: mistakes.length > 0 ? mistakes : mistakesTogether(entries) };
}

/** Reads the settings of one media upstream, as `MediaUpstreamEntry` or a class that adds fields to it says. */
export function checkMediaUpstream<Entry extends MediaUpstreamEntry>(
  entryClass: new () => Entry,
  sent: unknown,
): CheckedUpstreams<Entry> {
  const { checked, mistakes } = checkFields(entryClass, sent);
  return { checked, mistakes: mistakes.length > 0 ? mistakes : mistakesInEntry(checked, []) };
}

function mistakesTogether(entries: readonly MediaUpstreamEntry[]): UpstreamMistake[] {
  return entries.flatMap((entry, index) => {
    const path = ['media_upstreams', index];
    const twice = entries.findIndex(({ id }) => id === entry.id) < index;
    return [
      ...(twice ? [{ path: [...path, 'id'], rule: `"${entry.id}" is used twice` }] : []),
      ...mistakesInEntry(entry, path),
    ];
  });
}

const mistakesInEntry = (entry: MediaUpstreamEntry, path: FieldPath): UpstreamMistake[] => [
  ...mistakesInAccess(entry, path),
  ...(entry.models === 'all' ? mistakesInExcept(entry, path) : mistakesInModels(entry, path)),
  ...mistakesInCosts(entry, path),
];

function mistakesInAccess(entry: MediaUpstreamEntry, path: FieldPath): UpstreamMistake[] {
  const { protocol, base_url: baseUrl } = entry;
  if (protocol === 'sandbox') {
    return (['key', 'base_url', 'service_account_file'] as const)
      .filter((field) => entry[field] !== undefined)
      .map((field) => ({ path: [...path, field], rule: 'has no use here: the sandbox calls nobody' }));
  }
  const codec = MEDIA_CODECS[protocol];
  const mistakes = [...mistakesInKey(entry, codec, path), ...mistakesInSettings(entry, codec, path)];
  if (entry.callbacks && codec.callbackField === undefined)
    mistakes.push({ path: [...path, 'callbacks'], rule: `has no use here: protocol ${protocol} calls nobody` });
  if (baseUrl === undefined && codec.defaultBaseUrl === undefined)
    mistakes.push({
      path: [...path, 'base_url'],
      rule: `must be there: protocol ${protocol} has no address of its own`,
    });
  return mistakes;
}

function mistakesInKey(entry: MediaUpstreamEntry, codec: MediaCodec, path: FieldPath): UpstreamMistake[] {
  const { protocol, key, service_account_file: file } = entry;
  const field = file === undefined ? 'key' : 'service_account_file';
  const mistake = (rule: string): UpstreamMistake[] => [{ path: [...path, field], rule }];
  if (file !== undefined && protocol !== 'vertex-veo') return mistake('has no use here: protocol vertex-veo reads it');
  if (file !== undefined && key !== undefined) return mistake('excludes key: send one of them');
  try {
    const found = keyOf(entry);
    if (found === undefined) return mistake(`must be there: protocol ${protocol} sends a key`);
    const rule = codec.keyMistake?.(found);
    return rule === undefined ? [] : mistake(rule);
  } catch (error) {
    return mistake(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}

function mistakesInSettings({ settings, protocol }: MediaUpstreamEntry, codec: MediaCodec, path: FieldPath) {
  const found = codec.settingsMistakes
    ? codec.settingsMistakes(settings)
    : Object.keys(settings).map((name) => [name, `has no use here: protocol ${protocol} has no settings`] as const);
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

const isAmount = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1_000_000;

function mistakesInCosts({ costs, protocol }: MediaUpstreamEntry, path: FieldPath): UpstreamMistake[] {
  const { unit, ...amounts } = costs;
  const models = Object.entries(amounts);
  const mistakes = models.flatMap(([model, said]): UpstreamMistake[] => {
    const at = [...path, 'costs', model];
    if (!makeableModels(protocol).has(model)) return [{ path: at, rule: unknownModel(model, protocol) }];
    if (!isJsonObject(said)) return isAmount(said) ? [] : [{ path: at, rule: 'must be a number from 0 to 1000000' }];
    return Object.entries(said)
      .filter(([, amount]) => !isAmount(amount))
      .map(([variant]) => ({ path: [...at, variant], rule: 'must be a number from 0 to 1000000' }));
  });
  if (models.length > 0 && (typeof unit !== 'string' || !/^[A-Za-z]{1,16}$/.test(unit)))
    mistakes.push({ path: [...path, 'costs', 'unit'], rule: 'must be 1 to 16 letters, for example USD' });
  return mistakes;
}
