import {
  allows,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NativeBody,
  namesOutput,
  permits,
  PRICED_BETAS,
  type TextCall,
  type TextRequest,
  toolName,
  type UnpricedUse,
  type UpstreamPolicy,
} from '#contracts';

/** A list of betas with only those that cost no more than tokens, or that the policy lists; word for word where it lists all. */
export const permittedBetas = (sent: string, { betas }: UpstreamPolicy): string =>
  permits(betas, '*')
    ? sent
    : sent
        .split(',')
        .map((beta) => beta.trim())
        .filter((beta) => PRICED_BETAS.has(beta) || (beta !== '' && permits(betas, beta)))
        .join(',');

/** A request that the gateway writes itself: without the tools of the vendor that the policy does not list. */
export function permittedRequest(request: TextRequest, policy: UpstreamPolicy): TextRequest {
  const hostedTools = request.hostedTools.filter(({ type, param, isOptional }) => {
    return isOptional !== true || allows(policy, { kind: 'tools', name: toolName(type), param });
  });
  return hostedTools.length === request.hostedTools.length ? request : { ...request, hostedTools };
}

/** The caller's body as far as the policy lets it pass. What it always refuses never gets here. */
export const permittedBody = (
  native: NativeBody,
  call: Pick<TextCall, 'unpriced' | 'unknownFields'>,
  policy: UpstreamPolicy,
): NativeBody => pricedBody(withoutLackingTools(native, call.unpriced, policy), call.unknownFields, policy);

/** By it callers name their conversation to the gateway; no vendor is to get it, whatever an upstream's policy lists. */
const SESSION = 'session_id';

function pricedBody(native: NativeBody, unknownFields: readonly string[] = [], policy: UpstreamPolicy): NativeBody {
  const left = unknownFields.filter(
    (name) => namesOutput(name) || name === SESSION || (!permits(policy.fields, name) && !isAllowedTier(name, policy)),
  );
  if (left.length === 0) return native;
  const body = native.kind === 'rewritten' ? native.body : native.parsed();
  return { kind: 'rewritten', body: without(body, new Set(left), '') };
}

/** Of the tiers, only the one that a setting of the vendor's account decides is not known. */
const isAllowedTier = (name: string, { service_tiers: tiers }: UpstreamPolicy): boolean =>
  name === 'service_tier' && permits(tiers, 'auto');

/** The body without the tools that are only offered, beside tools of the caller, and that the policy does not list. */
function withoutLackingTools(
  native: NativeBody,
  uses: readonly UnpricedUse[] | undefined,
  policy: UpstreamPolicy,
): NativeBody {
  const lacking = (uses ?? []).filter((use) => use.isOptional === true && !allows(policy, use));
  if (lacking.length === 0) return native;
  const left = new Set(lacking.map(({ param }) => param));
  const body = native.kind === 'rewritten' ? native.body : native.parsed();
  const sent = Array.isArray(body['tools']) ? (body['tools'] as readonly JsonValue[]) : [];
  const tools = sent.flatMap((tool, index) => keptTool(tool, `tools[${index}]`, left));
  return { kind: 'rewritten', body: withChoiceAmong(tools, { ...body, tools }) };
}

/** A choice of `allowed_tools` names no tool that is not offered; where it named no other, none may be called. */
function withChoiceAmong(tools: readonly JsonValue[], body: JsonObject): JsonObject {
  const { tool_choice: choice } = body;
  if (!isJsonObject(choice) || choice['type'] !== 'allowed_tools' || !Array.isArray(choice['tools'])) return body;
  const offered = new Set(tools.map((tool) => isJsonObject(tool) && tool['type']));
  const named = choice['tools'] as readonly JsonValue[];
  const kept = named.filter((tool) => !isJsonObject(tool) || tool['type'] === undefined || offered.has(tool['type']));
  return { ...body, tool_choice: kept.length > 0 ? { ...choice, tools: kept } : 'none' };
}

/** One style has several tools in an object, each under its name. */
function keptTool(tool: JsonValue, path: string, left: ReadonlySet<string>): JsonValue[] {
  if (left.has(path)) return [];
  if (!isJsonObject(tool)) return [tool];
  const kept = Object.entries(tool).filter(([name]) => !left.has(`${path}.${name}`));
  return kept.length > 0 ? [Object.fromEntries(kept)] : [];
}

function without(body: JsonObject, left: ReadonlySet<string>, path: string): JsonObject {
  const kept: Record<string, JsonObject[string]> = {};
  for (const [name, value] of Object.entries(body)) {
    if (left.has(path + name)) continue;
    const isConfig = path === '' && name === 'generationConfig' && isJsonObject(value);
    kept[name] = isConfig ? without(value, left, 'generationConfig.') : value;
  }
  return kept;
}
