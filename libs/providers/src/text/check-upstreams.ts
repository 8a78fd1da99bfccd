import { familyOf, isJsonObject } from '#contracts';
import {
  checkFields,
  type CheckedUpstreams,
  type FieldPath,
  mistakesInList,
  type UpstreamMistake,
} from '../check-fields.js';
import { mistakesInCosts } from './text-costs.js';
import { mistakesInTraits } from './traits/model-traits.js';
import { ModelLimitsEntry, UpstreamsFile, type UpstreamEntry } from './upstream-entry.js';

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

function mistakesInTraitsOf({ models, model_traits: traits }: UpstreamEntry, path: FieldPath): UpstreamMistake[] {
  const names = Object.entries(models).flat();
  return mistakesInTraits(traits, names).map(({ path: at, ...mistake }) => ({
    ...mistake,
    path: [...path, 'model_traits', ...at],
  }));
}

function mistakesInModels(entry: UpstreamEntry, path: FieldPath): UpstreamMistake[] {
  const { models, embedding_models: embeddingModels, protocol } = entry;
  const [names, embeddings] = [Object.keys(models), Object.keys(embeddingModels)];
  const isNone = names.length === 0 && embeddings.length === 0;
  return [
    ...mistakesInLimits(entry, path),
    ...mistakesInCosts(entry, path),
    ...mistakesInTraitsOf(entry, path),
    ...(isNone ? [{ path: [...path, 'models'], rule: 'must name at least one model' }] : []),
    ...mistakesInNames(models, [...path, 'models']),
    ...names.flatMap((model) => notText(model, [...path, 'models', model])),
    ...mistakesInNames(embeddingModels, [...path, 'embedding_models']),
    ...(entry.mends_finish_reason && protocol !== 'chat' && protocol !== 'messages'
      ? [{ path: [...path, 'mends_finish_reason'], rule: 'needs the protocol "chat" or "messages"' }]
      : []),
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
