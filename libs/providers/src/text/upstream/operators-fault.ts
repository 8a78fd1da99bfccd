import type { UpstreamRefusal } from './upstream-refusal.js';

/** The request that was refused, as the upstream got it. */
export interface RefusedRequest {
  /** The model's name at the upstream: the operator's choice. */
  readonly upstreamModel: string;
  /** The body that was sent, in which the caller's own words stand. */
  readonly sent: readonly Uint8Array[];
}

/** Statuses that are about the operator's account or address, whatever the request holds. */
const OPERATORS_STATUS: ReadonlySet<number> = new Set([401, 402, 405, 407, 421, 426]);

/**
 * Words for machines that vendors use only for the account, its key, its quota or its region. Not among them are words
 * that also stand for a file or cache the caller named: `permission_error`, `PERMISSION_DENIED`, `FAILED_PRECONDITION`.
 */
const OPERATORS_REASON =
  /^(API_KEY_\w+|ACCESS_TOKEN_\w+|authentication_error|billing_\w+|invalid_api_key|insufficient_quota|quota_exceeded|UNAUTHENTICATED|SERVICE_DISABLED|BILLING_DISABLED|CONSUMER_\w+|USER_PROJECT_DENIED|account_deactivated|organization_\w+|unsupported_country_region_territory|request_forbidden|Arrearage|AccessDenied\.Unpurchased)$/i;

const MODEL_REASON = /^model_not_(found|available|supported)$/i;

/**
 * How sentences begin that blame the account, for vendors that name no reason. Further on a sentence may repeat words of
 * the caller's.
 */
const OPERATORS_SENTENCE =
  /^((Please )?(pass a valid |Incorrect |Invalid |The |Your )?(x-)?api[ _-]?key\b|Your credit balance|You exceeded your current quota|You have reached your specified API usage limits|Key limit exceeded|Gemini API free tier is not available|User location is not supported|(This|Your)( newly created)? (organization|account|project|workspace|team)( \S+)? (has been|has|is|does not|must)|Insufficient (Balance|credits|quota)|Generative Language API has not been used|Method doesn't allow unregistered callers|Requests (to|from) this (API|region)|Country, region, or territory not supported|Project \S+ does not have access)/i;

/** Larger bodies are not searched for a sentence; it is then believed to be the caller's own. */
const MAX_SEARCHED_BYTES = 1024 * 1024;

/**
 * True when the operator's account, key or choice of model is to blame for a refusal. Everything else with a status of
 * 4xx can follow from what the caller sent. A sentence counts only where the caller did not write it: vendors repeat ids
 * and names, and no caller may make an upstream look broken by choosing a name.
 */
export function isOperatorsFault(status: number, refusal: UpstreamRefusal, request?: RefusedRequest): boolean {
  const { reasons, message } = refusal;
  if (OPERATORS_STATUS.has(status) || reasons.some((reason) => OPERATORS_REASON.test(reason))) return true;
  // Nothing answers at this path: the address is wrong, not the request.
  if (status === 404 && message === undefined && reasons.length === 0) return true;
  if (reasons.some((reason) => MODEL_REASON.test(reason))) return namesOurModel(message, request);
  const said = message === undefined ? undefined : blamingPart(message, request);
  return said !== undefined && !isCallersText(said, request);
}

/** A tool may name a model as well: what is missing must be the one that the operator chose. */
function namesOurModel(message: string | undefined, request: RefusedRequest | undefined): boolean {
  const quoted = message?.match(/[`'"]([^`'"]+)[`'"]/g) ?? [];
  return !request || quoted.length === 0 || quoted.some((name) => name.slice(1, -1) === request.upstreamModel);
}

/** The beginning of a sentence that blames the account or says that the operator's model does not exist. */
function blamingPart(message: string, request: RefusedRequest | undefined): string | undefined {
  const account = OPERATORS_SENTENCE.exec(message)?.[0];
  if (account !== undefined || !request) return account;
  const model = request.upstreamModel.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const named = new RegExp(
    `^((The )?models?\\b[/: ]*[\`'"]?${model}[\`'"]?)( (does not exist|is not found|not found|is not available|is not supported)|$)`,
    'i',
  );
  const bare = new RegExp(`^${model} is not a valid model|^Model Not Exist|^No endpoints found for ${model}`, 'i');
  return named.exec(message)?.[1] ?? bare.exec(message)?.[0];
}

function isCallersText(said: string, request: RefusedRequest | undefined): boolean {
  if (!request) return false;
  const { sent } = request;
  if (sent.reduce((sum, { length }) => sum + length, 0) > MAX_SEARCHED_BYTES) return true;
  const text = Buffer.concat(sent).toString('utf8');
  return spellings(text).some((spelling) => spelling.includes(simple(said)));
}

/** The caller's text as a vendor may repeat it: without JSON's escapes, and without those of addresses. */
function spellings(text: string): readonly string[] {
  const unescaped = text
    .replace(/\\u([0-9a-fA-F]{4})/g, (_match, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\(.)/g, '$1');
  return [simple(unescaped), simple(percentDecoded(unescaped))];
}

const simple = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ');

/** The text decoded, where it holds such escapes at all. */
function percentDecoded(text: string): string {
  return text.replace(/(%[0-9a-fA-F]{2})+/g, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}
