/** The kinds of things that cost more than the tokens they use, or that belong to the vendor's account. */
export const UNPRICED_KINDS = ['tools', 'service_tiers', 'account_ids', 'fields'] as const;
export type UnpricedKind = (typeof UNPRICED_KINDS)[number];

/** One such thing in a request. */
export interface UnpricedUse {
  readonly kind: UnpricedKind;
  /** As a policy names it: `web_search`, `priority`, `file_id`. */
  readonly name: string;
  /** Where it stands in the request, `tools[1]`. */
  readonly param: string;
}

/** What an upstream may be asked for although the gateway has no price for it. `*` in a list stands for everything. */
export interface UpstreamPolicy extends Readonly<Record<UnpricedKind, readonly string[]>> {
  /** Values of `anthropic-beta` that are passed on; the others are left out. */
  readonly betas: readonly string[];
}

/** Tools, tiers and ids that cost what the gateway does not charge are refused unless an operator says otherwise. */
export const REFUSE_UNPRICED: UpstreamPolicy = {
  tools: [],
  service_tiers: [],
  account_ids: [],
  fields: [],
  betas: [],
};

/** For what costs nothing, as the sandbox. */
export const ALLOW_UNPRICED: UpstreamPolicy = {
  tools: ['*'],
  service_tiers: ['*'],
  account_ids: ['*'],
  fields: ['*'],
  betas: ['*'],
};

/** Vendors put dates behind the names of their tools, and D1 calls `mcp` otherwise. */
export const toolName = (type: string): string => {
  const name = type.replace(/_(\d{8}|\d{4}_\d{2}_\d{2})$/, '');
  return name === 'remote_mcp' ? 'mcp' : name;
};

export const permits = (allowed: readonly string[], name: string): boolean =>
  allowed.includes('*') || allowed.includes(name);

/** Whether the policy lets a use pass. */
export const allows = (policy: UpstreamPolicy, { kind, name }: UnpricedUse): boolean =>
  permits(policy[kind], name) || (kind === 'tools' && policy.tools.some((tool) => toolName(tool) === name));
