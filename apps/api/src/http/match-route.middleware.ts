import type { Request, RequestHandler } from 'express';
import type { RouteIndex, RouteMatch } from './route-index.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** What is known of the route before Nest calls it. */
    match: RouteMatch;
  }
}

/**
 * Looks up the facts of the route, once, for all that follows. What a client made of a wrong base URL is answered as the path
 * that it stands for.
 */
export const matchRoute =
  (routes: RouteIndex): RequestHandler =>
  (request, _response, next) => {
    const own = ownPath(routes, request);
    if (own !== undefined) request.url = own + request.url.slice(request.path.length);
    request.match = routes.find(request.method, request.path);
    if (request.match.pattern === undefined) rewriteToCanonical(routes, request);
    next();
  };

/**
 * The route at the other version for clients of the content-generation style, which alone have a header of their own for the key: other
 * styles have the same path.
 */
function ownPath(routes: RouteIndex, { method, headers, path }: Request): string | undefined {
  const [shared, own] = VERSIONS;
  if (headers['x-goog-api-key'] === undefined || !path.startsWith(`/${shared}/`)) return undefined;
  const other = `/${own}${path.slice(shared.length + 1)}`;
  const found = withWholeName(method, other) ?? other;
  return routes.find(method, found).pattern === undefined ? undefined : found;
}

/** The path with a model's name in one piece, as its route has it: libraries write names that have a slash as they are. */
function withWholeName(method: string, path: string): string | undefined {
  const [, version = '', models, maker = '', ...rest] = path.split('/');
  const isName = VERSION_OF.get(version) === version && models === MODELS && maker !== MODELS && !maker.includes(':');
  const isAsked = method === 'GET' || (method === 'POST' && /:\w+$/.test(rest.at(-1) ?? ''));
  if (!isName || !isAsked || maker === '' || rest.length === 0 || rest.includes('')) return undefined;
  return join(version, MODELS, [maker, ...rest].join('%2F'));
}

/** Gives a request behind a wrong base URL the path that its route has. */
function rewriteToCanonical(routes: RouteIndex, request: Request): void {
  const { method, path, headers, match } = request;
  // A preflight asks about the route of another method than its own.
  const asked = method === 'OPTIONS' ? (headers['access-control-request-method'] ?? method) : method;
  const canonical = canonicalPath(routes, asked, path, match.otherMethods.length === 0);
  if (canonical === undefined || canonical === path) return;
  request.match = routes.find(method, canonical);
  const query = request.url.indexOf('?');
  request.url = query === -1 ? canonical : canonical + request.url.slice(query);
}

/** Longer paths are no mistake of a base URL. */
const LONGEST_PATH = 300;
const MOST_SEGMENTS = 16;

/** What stands in base URLs: versions, and what other gateways and vendors have in front of them. */
const IN_BASE_URLS: ReadonlySet<string> = new Set(
  ['v1', 'v1beta', 'v1alpha'].concat(['api', 'openai', 'anthropic', 'claude', 'google', 'gemini']),
);

const MODELS = 'models';

/** A model and its method, at the end of a path of the content-generation style. */
const MODEL_METHOD = /^[^:]+:\w+$/;

/**
 * The path behind a base URL that has too much (`/api/v1`, `/v1/v1`, `/v1/chat/completions`) or too little (no `/v1`): what the client
 * itself adds stands at the end. Only routes of API keys are found so, and none when anything else stands in front.
 *
 * @param orRefused whether a path is answered that has other methods only.
 */
function canonicalPath(routes: RouteIndex, method: string, path: string, orRefused: boolean): string | undefined {
  if (path.length > LONGEST_PATH) return undefined;
  const segments = path.split('/').filter(Boolean);
  if (segments.length > MOST_SEGMENTS) return undefined;
  const spelled = segments
    .map((_, from) => from)
    .filter((from) => isBase(routes, segments.slice(0, from)))
    .flatMap((from) => spellings(segments.slice(from)));
  const candidates = [...spelled, ...spelled.flatMap((each) => withWholeName(method, each) ?? [])]
    .map((canonical) => ({ path: canonical, match: routes.find(method, canonical) }))
    .filter(({ match }) => match.facts.access === 'key');
  const served = candidates.find(({ match }) => match.pattern !== undefined);
  const refused = orRefused ? candidates.find(({ match }) => match.otherMethods.length > 0) : undefined;
  return (served ?? refused)?.path;
}

/** The versions that routes begin with, and which of them each version of a client is. */
const VERSIONS = ['v1', 'v1beta'] as const;
const VERSION_OF: ReadonlyMap<string, string> = new Map([
  ...VERSIONS.map((name) => [name, name] as const),
  ['v1alpha', 'v1beta'],
]);

function spellings(rest: readonly string[]): string[] {
  const [first = '', ...behind] = rest;
  const version = VERSION_OF.get(first);
  return version === undefined ? VERSIONS.map((each) => join(each, ...rest)) : [join(version, ...behind)];
}

const join = (...segments: string[]): string => `/${segments.join('/')}`;

/** True for a path that a route names word for word. */
const isLiteral = (routes: RouteIndex, path: string): boolean =>
  ['POST', 'GET'].some((method) => routes.find(method, path).pattern === path);

/** True for what stands in a base URL, behind which there may be the path of a route: people paste whole addresses. */
function isBase(routes: RouteIndex, segments: readonly string[]): boolean {
  const firstOther = segments.findIndex((segment) => !IN_BASE_URLS.has(segment));
  if (firstOther === -1) return true;
  const pasted = join(VERSIONS[0], ...segments.slice(firstOther));
  const isModelMethod = segments[firstOther] === MODELS && MODEL_METHOD.test(segments[firstOther + 1] ?? '');
  return isModelMethod ? segments.length === firstOther + 2 : isLiteral(routes, pasted);
}
