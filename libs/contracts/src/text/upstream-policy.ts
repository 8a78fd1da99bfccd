import type { OpenedUnit } from './sold-units.js';

/** How to handle a tool that a request only offers, and that its upstream lacks or may not run. */
export const LACKING_TOOLS = ['drop', 'refuse'] as const;
export type LackingTools = (typeof LACKING_TOOLS)[number];

/** The kinds of things that cost more than the tokens they use, or that belong to the vendor's account. */
export const UNPRICED_KINDS = ['tools', 'service_tiers', 'account_ids', 'fields'] as const;
export type UnpricedKind = (typeof UNPRICED_KINDS)[number];

/** One such thing in a request. */
export interface UnpricedUse {
  readonly kind: UnpricedKind;
  /** As a policy names it: `web_search`, `priority`, `file_id`. */
  readonly name: string;
  /** Where it is in the request, for example `tools[1]`. */
  readonly param: string;
  /** True for a tool that the caller only offers: the reply is one to the same question without it. */
  readonly isOptional?: boolean;
  /** True for what upstreams of other interfaces are never sent: there it costs nothing, and changes no reply. */
  readonly isHint?: boolean;
  /** The unit whose price opens it. */
  readonly unit?: OpenedUnit;
  /** The most calls that it asks for, where it says so. */
  readonly most?: number;
  /** True: it has a price, so that it needs nobody's leave. */
  readonly isPriced?: boolean;
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

/** Vendors put dates behind the names of their tools, and here `mcp` is also called `remote_mcp`. */
export const toolName = (type: string): string => {
  const name = type.replace(/_(\d{8}|\d{4}_\d{2}_\d{2})$/, '');
  return name === 'remote_mcp' ? 'mcp' : name;
};

/** Tools of a vendor's own that bring nothing of the caller's with them: no server, no files, no screen. */
const HELPERS =
  /^(web_search|web_search_preview|web_fetch|code_interpreter|code_execution|image_generation|tool_search|googleSearch|googleSearchRetrieval|googleMaps|urlContext|codeExecution)$/;

/**
 * True for a tool that a request is complete without: the vendor runs it, it is only a help, and nothing forces the
 * model to use it.
 *
 * @param tool as the request names it, `{type}` or with a name of its own.
 * @param choice the request's `tool_choice`; gemini has none that is about such tools.
 */
export function isOptionalTool(tool: { readonly type: string; readonly name?: unknown }, choice: unknown): boolean {
  if (!HELPERS.test(toolName(tool.type))) return false;
  if (choice == null || typeof choice === 'string') return choice !== 'required';
  const { type, mode, name } = choice as { type?: unknown; mode?: unknown; name?: unknown };
  if (type === 'allowed_tools') return mode !== 'required';
  if (type === 'tool') return name !== tool.name;
  return ['auto', 'none', 'function', 'custom'].some((free) => free === type);
}

export const permits = (allowed: readonly string[], name: string): boolean =>
  allowed.includes('*') || allowed.includes(name);

/** Whether the policy lets a use pass. */
export const allows = (policy: UpstreamPolicy, { kind, name, isPriced }: UnpricedUse): boolean =>
  isPriced === true ||
  permits(policy[kind], name) ||
  (kind === 'tools' && policy.tools.some((tool) => toolName(tool) === name));
