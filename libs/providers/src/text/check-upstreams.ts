import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { familyOf, isJsonObject } from '#contracts';
import { fieldsOf, inheritedNameIn, ruleOf, unknownFieldRule } from '#platform';
import { ModelLimitsEntry, UpstreamsFile, type UpstreamEntry } from './upstream-entry.js';

/** Where a field stands: `['upstreams', 1, 'base_url']`. */
export type FieldPath = readonly (string | number)[];

/** One mistake in the settings of upstreams. Never holds what was given, which may be a secret. */
export interface UpstreamMistake {
  readonly path: FieldPath;
  /** What the field breaks, to be read after its name: "must be at least 0". */
  readonly rule: string;
  /** True when there is no such field. */
  readonly isUnknown?: boolean;
}

/** Checked settings; of use only when there are no mistakes. */
export interface CheckedUpstreams<Checked> {
  readonly checked: Checked;
  readonly mistakes: readonly UpstreamMistake[];
}

/** `upstreams[1].base_url` */
export const fieldName = (path: FieldPath): string =>
  path.reduce<string>(
    (name, step) => (typeof step === 'number' ? `${name}[${step}]` : name ? `${name}.${step}` : step),
    '',
  );

/** Reads a whole file, already parsed. */
export function checkUpstreamsFile(sent: unknown): CheckedUpstreams<readonly UpstreamEntry[]> {
  const { checked, mistakes } = checkFields(UpstreamsFile, sent);
  const { upstreams } = checked;
  return {
    checked: upstreams,
    mistakes: mistakes.length > 0 ? mistakes : mistakesInList('upstreams', upstreams, mistakesInModels),
  };
}

/** Reads the settings of one upstream, as `UpstreamEntry` or a class that adds fields to it says. */
export function checkUpstream<Entry extends UpstreamEntry>(
  entryClass: new () => Entry,
  sent: unknown,
): CheckedUpstreams<Entry> {
  const { checked, mistakes } = checkFields(entryClass, sent);
  return { checked, mistakes: mistakes.length > 0 ? mistakes : mistakesInModels(checked, []) };
}

/** Reads fields as the decorators of a class say. */
export function checkFields<Checked extends object>(
  checkedClass: new () => Checked,
  sent: unknown,
): CheckedUpstreams<Checked> {
  const inherited = inheritedNameIn(sent);
  if (inherited) {
    const mistake = { path: inherited.map(stepOf), rule: 'is not a name that a field may have', isUnknown: true };
    return { checked: new checkedClass(), mistakes: [mistake] };
  }
  const checked = plainToInstance(checkedClass, isJsonObject(sent) ? sent : {}, { exposeDefaultValues: true });
  const errors = validateSync(checked, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
  return { checked, mistakes: errors.flatMap((error) => mistakesOf(error, [])) };
}

function mistakesOf(error: ValidationError, above: FieldPath): UpstreamMistake[] {
  const { property, constraints, children } = error;
  const path = [...above, stepOf(property)];
  const isUnknown = constraints !== undefined && 'whitelistValidation' in constraints;
  const own =
    constraints === undefined ? [] : [{ path, rule: isUnknown ? unknownRule(error) : ruleOf(error), isUnknown }];
  return [...own, ...(children ?? []).flatMap((child) => mistakesOf(child, path))];
}

/** Places in a list are numbers. */
const stepOf = (property: string): string | number => (/^\d+$/.test(property) ? Number(property) : property);

const unknownRule = ({ target, property }: ValidationError): string =>
  unknownFieldRule(property, fieldsOf(target?.constructor as new () => object));

/** What only shows when the entries of a list are seen together, and what `inEntry` finds in each. */
export const mistakesInList = <Entry extends { readonly id: string }>(
  list: string,
  entries: readonly Entry[],
  inEntry: (entry: Entry, path: FieldPath) => UpstreamMistake[],
): UpstreamMistake[] =>
  entries.flatMap((entry, index) => {
    const path = [list, index];
    const twice = entries.findIndex(({ id }) => id === entry.id) < index;
    return [
      ...(twice ? [{ path: [...path, 'id'], rule: `"${entry.id}" is used twice` }] : []),
      ...inEntry(entry, path),
    ];
  });

function mistakesInLimits({ models, model_limits: limits }: UpstreamEntry, path: FieldPath): UpstreamMistake[] {
  return Object.entries(limits).flatMap(([model, sent]) => {
    const at = [...path, 'model_limits', model];
    if (!Object.hasOwn(models, model)) return [{ path: at, rule: 'must be one of the models of this upstream' }];
    if (!isJsonObject(sent)) return [{ path: at, rule: 'must be an object' }];
    return checkFields(ModelLimitsEntry, sent).mistakes.map((mistake) => ({
      ...mistake,
      path: [...at, ...mistake.path],
    }));
  });
}

function mistakesInModels(entry: UpstreamEntry, path: FieldPath): UpstreamMistake[] {
  const { models, embedding_models: embeddingModels, protocol } = entry;
  const [names, embeddings] = [Object.keys(models), Object.keys(embeddingModels)];
  const isNone = names.length === 0 && embeddings.length === 0;
  return [
    ...mistakesInLimits(entry, path),
    ...(isNone ? [{ path: [...path, 'models'], rule: 'must name at least one model' }] : []),
    ...mistakesInNames(models, [...path, 'models']),
    ...names.flatMap((model) => notText(model, [...path, 'models', model])),
    ...mistakesInNames(embeddingModels, [...path, 'embedding_models']),
    ...(embeddings.length > 0 && protocol !== 'chat'
      ? [{ path: [...path, 'embedding_models'], rule: 'needs the protocol "chat"' }]
      : []),
    ...embeddings
      .filter((name) => Object.hasOwn(models, name))
      .map((name) => ({ path: [...path, 'embedding_models', name], rule: 'is one of the models that write text' })),
  ];
}

/** Requests for text never reach a model of images or videos. */
function notText(model: string, path: FieldPath): UpstreamMistake[] {
  const family = familyOf(model);
  if (!family) return [];
  return [{ path, rule: `makes ${family.medium}s and writes no text: it belongs under media_upstreams` }];
}

const mistakesInNames = (models: Readonly<Record<string, string>>, path: FieldPath): UpstreamMistake[] =>
  Object.entries(models)
    .filter(([, name]) => typeof name !== 'string' || name === '')
    .map(([model]) => ({ path: [...path, model], rule: "must be the model's name at the upstream" }));
