import { isJsonObject, type JsonObject, nearestNames } from '#contracts';
import type { ListedModel } from './listed-models.js';

/** A text upstream as names are found by: its address, and what it calls its models. */
export interface NamedUpstream {
  readonly settings: JsonObject;
}

/** How an entry of a list came to a model; the surest first. */
const WAYS = ['saved', 'vendor', 'same', 'renamed'] as const;

interface NamedModel {
  readonly model: string;
  readonly by: (typeof WAYS)[number];
}

export interface NamedEntry {
  readonly listed: ListedModel;
  readonly named: NamedModel | undefined;
  /** Whether another entry of the list is more surely of the same model. */
  readonly isOther: boolean;
}

/** Who sells at which host, in the words of any list. */
const VENDORS: readonly (readonly [host: RegExp, vendor: RegExp])[] = [
  [/(^|\.)openai\.com$/, /^openai$/],
  [/(^|\.)azure\.com$/, /^azure/],
  [/(^|\.)anthropic\.com$/, /^anthropic$/],
  [/(^|\.)googleapis\.com$/, /^(google|gemini|vertex_ai)/],
  [/(^|\.)x\.ai$/, /^x-?ai$/],
  [/(^|\.)openrouter\.ai$/, /^openrouter$/],
  [/(^|\.)deepseek\.com$/, /^deepseek$/],
  [/(^|\.)mistral\.ai$/, /^mistral(ai)?$/],
  [/(^|\.)aliyuncs\.com$/, /^(alibaba|dashscope|qwen)/],
  [/(^|\.)volces\.com$/, /^(volcengine|bytedance)/],
  [/(^|\.)moonshot\.(ai|cn)$/, /^moonshot(ai)?$/],
  [/(^|\.)minimax(i)?\.(chat|com|io)$/, /^minimax$/],
  [/(^|\.)(bigmodel\.cn|z\.ai)$/, /^(zhipu(ai)?|z-?ai)$/],
  [/(^|\.)groq\.com$/, /^groq$/],
];
const SUGGESTIONS_MAX = 3;

/** Finds out which models the entries of one list are of. */
export class ListNames {
  /** What a vendor calls a model to ours, with who that vendor is by its address. */
  private readonly offered = new Map<string, { readonly model: string; readonly vendor: RegExp | undefined }[]>();
  private readonly models: ReadonlySet<string>;
  private unnamed: readonly string[] = [];

  /**
   * @param saved what operators said of ids of the list; null: none of ours.
   * @param models all that can be sold.
   */
  constructor(
    private readonly saved: ReadonlyMap<string, string | null>,
    models: Iterable<string>,
    upstreams: readonly NamedUpstream[],
  ) {
    this.models = new Set(models);
    for (const { settings } of upstreams) {
      const vendor = vendorAt(settings['base_url']);
      for (const named of [settings['models'], settings['embedding_models']])
        for (const [model, name] of Object.entries(isJsonObject(named) ? named : {})) {
          if (typeof name === 'string') this.offered.set(name, [...(this.offered.get(name) ?? []), { model, vendor }]);
        }
    }
  }

  /** Of several entries of one model all but one are others. */
  of(list: readonly ListedModel[]): readonly NamedEntry[] {
    const surest = new Map<string, { readonly listed: ListedModel; readonly rank: number }>();
    const found = list.map((listed) => ({ listed, named: this.modelOf(listed) }));
    for (const { listed, named } of found) {
      if (!named) continue;
      const rank = WAYS.indexOf(named.by);
      const best = surest.get(named.model);
      if (!best || rank < best.rank) surest.set(named.model, { listed, rank });
    }
    this.unnamed = [...this.models].filter((model) => !surest.has(model));
    return found.map(({ listed, named }) => ({
      listed,
      named,
      isOther: named !== undefined && surest.get(named.model)?.listed !== listed,
    }));
  }

  private modelOf({ id, vendor = '' }: ListedModel): NamedModel | undefined {
    const saved = this.saved.get(id);
    if (saved !== undefined) return saved === null ? undefined : { model: saved, by: 'saved' };
    const names = [id, slugOf(id)];
    const offered = names.flatMap((name) => this.offered.get(name) ?? []);
    const ofVendor = offered.find((each) => each.vendor?.test(vendor.toLowerCase()));
    if (ofVendor) return { model: ofVendor.model, by: 'vendor' };
    const same = names.find((name) => this.models.has(name));
    if (same !== undefined) return { model: same, by: 'same' };
    return offered[0] && { model: offered[0].model, by: 'renamed' };
  }

  /** Of the models that no entry is of, those whose names are like an id; called when `of` has found the others. */
  suggestions(id: string): readonly string[] {
    return this.saved.has(id) ? [] : nearestNames(slugOf(id), this.unnamed, SUGGESTIONS_MAX);
  }
}

/** The id without the vendor in front of it. */
const slugOf = (id: string): string => id.slice(id.indexOf('/') + 1);

function vendorAt(address: unknown): RegExp | undefined {
  if (typeof address !== 'string' || !URL.canParse(address)) return undefined;
  const { hostname } = new URL(address);
  return VENDORS.find(([host]) => host.test(hostname))?.[1];
}
