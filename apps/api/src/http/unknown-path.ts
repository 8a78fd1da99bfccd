import { GatewayError, WHERE_TEXT_IS } from '#contracts';
import { distance } from 'fastest-levenshtein';

/** A route of the document: a method in capitals, and a path whose parameters stand in braces. */
export interface DocumentedRoute {
  readonly method: string;
  readonly path: string;
}

/** Longer paths are no typing mistake, and comparing them would cost time. */
const LONGEST_COMPARED = 100;
/** What a missing last segment (`/v1/videos`) counts beside letters that are wrong. */
const MISSING_SEGMENT = 3;

/** How other APIs call the writing of text. */
const TEXT_ELSEWHERE = /^(chat\/)?complet(e|ions?)$|^chat$|^generate(-?text)?$/;
/** What other APIs have and the gateway has not, and what to do instead. */
const NOT_OFFERED: readonly (readonly [RegExp, string])[] = [
  [
    /^(upload\/(v\d+(beta)?\/)?)?(files|uploads)(\/|$)/,
    'Files are uploaded whole, as multipart/form-data to POST /v1/files; or send them inside the request, as base64 or as a public URL.',
  ],
  [
    /^((messages\/)?batches|models\/[^/]*:batch\w+)(\/|$)/,
    'There is no batch API: send the requests one by one, several at the same time.',
  ],
  [
    /^conversations(\/|$)/,
    'There is no conversations API: send the turns in input, or the id of a stored response in previous_response_id.',
  ],
  [
    /^cachedcontents(\/|$)/,
    'There is no API for caches: the gateway itself marks prompts that begin alike for the prompt caches of vendors.',
  ],
  [
    /^models\/[^/]+\/(stream)?generatecontent$|^models\/[^/]+\/counttokens$/,
    'The method comes after a colon: POST /v1beta/models/{model}:generateContent.',
  ],
  [/^images\/variations$/, 'There are no variations: send the image as a reference to POST /v1/images/edits.'],
  [
    /^(assistants|threads)(\/|$)/,
    'There are no assistants and threads: send instructions, tools and previous_response_id to POST /v1/responses.',
  ],
];
const VERSION = /^v\d+(alpha|beta)?$/;
/** A word that begins alike is another form of it, such as generate for generations. */
const SAME_BEGINNING = 6;
const EVERY_ROUTE = 'GET /docs describes every route, GET /openapi.json for programs.';

/** The hint for an unknown path: the route that was probably meant. */
export class UnknownPaths {
  private readonly routes: readonly (DocumentedRoute & { readonly segments: readonly string[] })[];

  /** @param baseUrl the address of the gateway, without a path. */
  constructor(
    routes: readonly DocumentedRoute[],
    private readonly baseUrl: () => string,
  ) {
    this.routes = routes.map((route) => ({ ...route, segments: segmentsOf(route.path) }));
  }

  refusal(method: string, path: string): GatewayError {
    const shown = path.length > LONGEST_COMPARED ? `${path.slice(0, LONGEST_COMPARED)}…` : path;
    return new GatewayError('not_found', `There is no ${method} ${shown}. ${this.hint(method, path)}`);
  }

  private hint(method: string, path: string): string {
    if (path.length > LONGEST_COMPARED) return EVERY_ROUTE;
    const segments = segmentsOf(path);
    const asked = segments.join('/');
    if (TEXT_ELSEWHERE.test(asked)) return `Text is ${WHERE_TEXT_IS}.`;
    const instead = NOT_OFFERED.find(([elsewhere]) => elsewhere.test(asked))?.[1];
    if (instead !== undefined) return instead;
    // Only operators may learn of operators' routes; a caller below /admin/v1 has shown the token.
    const isAdmin = path.startsWith('/admin/v1/');
    const routes = this.routes.filter(
      (route) => route.method === method && route.path.startsWith('/admin/') === isAdmin,
    );
    const near = routes
      .map((route) => ({ route, steps: stepsBetween(segments, route.segments) }))
      .filter(({ steps }) => Number.isFinite(steps))
      .toSorted((one, other) => one.steps - other.steps);
    if (near[0]) return `Did you mean ${method} ${near[0].route.path}?`;
    const meant = isAdmin ? undefined : behindBase(segments, routes);
    return meant ? `Did you mean ${method} ${meant.path}? ${this.baseUrls()}` : EVERY_ROUTE;
  }

  private baseUrls(): string {
    const url = this.baseUrl();
    return `The base URL is ${url}/v1 for clients of OpenAI's interfaces, and ${url} for those of Anthropic's and Google's.`;
  }
}

/** The parts of a path without its version; letter case and repeated versions (`/v1/v1/...`) are slips of their own. */
const segmentsOf = (path: string): string[] =>
  path
    .toLowerCase()
    .replace(/^(\/+v\d+(alpha|beta)?(?=\/|$))+/, '')
    .split('/')
    .filter(Boolean);

/** The route at the end of a path in front of which there is something else: a wrong base URL. */
function behindBase<Route extends { readonly segments: readonly string[] }>(
  asked: readonly string[],
  routes: readonly Route[],
): Route | undefined {
  return asked
    .map((_, from) => asked.slice(from).filter((segment) => !VERSION.test(segment)))
    .flatMap((rest) =>
      routes.filter(({ segments }) => rest.length === segments.length && stepsBetween(rest, segments) === 0),
    )
    .at(0);
}

/** How far a path lies from a route; infinite when it is another one. */
function stepsBetween(asked: readonly string[], route: readonly string[]): number {
  const missing = route.length - asked.length;
  if (asked.length === 0 || missing < 0 || missing > 1) return Infinity;
  if (missing === 1 && route.at(-1)?.startsWith('{')) return Infinity;
  return asked.reduce((sum, segment, index) => sum + slips(segment, route[index] ?? ''), missing * MISSING_SEGMENT);
}

function slips(asked: string, known: string): number {
  if (known.startsWith('{')) return 0;
  const steps = distance(asked, known);
  if (asked.length >= SAME_BEGINNING && known.startsWith(asked.slice(0, SAME_BEGINNING))) return steps;
  return steps <= Math.max(2, Math.floor(known.length / 3)) ? steps : Infinity;
}
