import type { CONSOLE_VERSION, ConsoleApi, ConsoleFailure } from '#contracts';
import { ApiError } from './api-error';

/** The version of the interface that these pages were built for; a newer gateway asks for a reload. */
const VERSION: typeof CONSOLE_VERSION = 1;
const BASE = '/console/api';
const METHOD_LENGTH_READ = 'GET '.length;

type ConsoleRoute = keyof ConsoleApi;
export type Answer<Route extends ConsoleRoute> = ConsoleApi[Route]['answer'];
export type ReadRoute = Extract<ConsoleRoute, `GET ${string}`>;
export type WriteRoute = Extract<ConsoleRoute, `POST ${string}`>;

/** Names of the path: `key_id` of `/keys/:key_id`. */
type Names<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;
type PathPart<Route extends string> = [Names<Route>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: Readonly<Record<Names<Route>, string>> };

/** What a call needs besides its route. */
export type CallInput<Route extends ConsoleRoute> = PathPart<Route> & {
  readonly query?: { [Name in keyof ConsoleApi[Route]['query']]: ConsoleApi[Route]['query'][Name] | undefined };
} & (undefined extends ConsoleApi[Route]['body']
    ? { readonly body?: undefined }
    : { readonly body: ConsoleApi[Route]['body'] });

/** What a call may send besides its route. */
export interface CallExtras {
  readonly signal?: AbortSignal | undefined;
  readonly idempotencyKey?: string;
}

/** What the pages do when a call needs another session or a proof of identity. */
interface Interruptions {
  /** Resolves once the user has confirmed their identity; rejects when they decline. */
  proof: () => Promise<void>;
  /** Resolves once the user has signed in again; rejects when there was no session or another user signed in. */
  signIn: () => Promise<void>;
  reloadRequired: () => void;
}

const interruptions: Interruptions = {
  proof: () => Promise.reject(new Error('the proof dialog is not mounted yet')),
  signIn: () => Promise.reject(new Error('no user was signed in')),
  reloadRequired: () => undefined,
};

/** Says what to do when the server wants proof, a session, or newer pages. */
export const onInterruption = (handlers: Partial<Interruptions>): void => void Object.assign(interruptions, handlers);

/** The path of a route with its parameters and query filled in. */
export function pathOf(path: string, params: Readonly<Record<string, string>> = {}, query: object = {}): string {
  const filled = path.replace(/:(\w+)/g, (_match, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return `${BASE}${filled}${search.size > 0 ? `?${search.toString()}` : ''}`;
}

/**
 * Calls a route of the console. When proof is needed, or the session is over, the person is asked for it where they are, and
 * the call is repeated: nothing that was typed is lost.
 * @throws ApiError with what the server refused, or that it could not be reached
 */
export async function call<Route extends ConsoleRoute>(
  route: Route,
  input: CallInput<Route>,
  extras: CallExtras = {},
): Promise<Answer<Route>> {
  return (await (await callRaw(route, input, extras)).json()) as Answer<Route>;
}

/** The response itself, for streams. @throws ApiError as `call` does */
export async function callRaw<Route extends ConsoleRoute>(
  route: Route,
  input: CallInput<Route>,
  extras: CallExtras,
): Promise<Response> {
  try {
    return await sendRaw(route, input, extras);
  } catch (failure) {
    if (!(failure instanceof ApiError)) throw failure;
    if (failure.code === 'sign_in_required') await interruptions.signIn().catch(() => Promise.reject(failure));
    else if (failure.code === 'proof_required') await interruptions.proof();
    else throw failure;
    return callRaw(route, input, extras);
  }
}

/** The response to one request, whatever it needs. @throws ApiError with what the server refused */
export async function sendRaw<Route extends ConsoleRoute>(
  route: Route,
  input: CallInput<Route>,
  { signal, idempotencyKey }: CallExtras,
): Promise<Response> {
  const isRead = route.startsWith('GET ');
  const path = route.slice(isRead ? METHOD_LENGTH_READ : METHOD_LENGTH_READ + 1);
  const response = await fetch(pathOf(path, input.params, input.query), {
    method: isRead ? 'GET' : 'POST',
    credentials: 'same-origin',
    headers: {
      accept: 'application/json, text/event-stream',
      'x-console': String(VERSION),
      ...(!isRead && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    ...(!isRead && { body: JSON.stringify(input.body ?? {}) }),
    ...(signal && { signal }),
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause;
    throw ApiError.unreachable(cause);
  });
  if (response.ok) return response;
  const failure = await readFailure(response);
  if (failure.code === 'reload_required') interruptions.reloadRequired();
  throw failure;
}

async function readFailure(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => null)) as Partial<ConsoleFailure> | null;
  return ApiError.of(response, body?.error ?? null);
}
