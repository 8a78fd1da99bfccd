import { isJsonObject, MODEL_IDS } from '#contracts';
import type { ReferenceWay } from './http/media-codec.js';
import { MEDIA_CODECS, type MediaProtocol } from './media-protocols.js';
import type { MediaUpstreamEntry } from './media-upstream-entry.js';

/** One model of an upstream. */
export interface ServedModel {
  /** The vendor's name for it. */
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
