import {
  keepPreviousData,
  QueryClient,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { ApiError } from './api-error';
import { type Answer, call, type CallInput, type ReadRoute, type WriteRoute } from './call';
import type { ConsoleSession } from './types';

interface ListPart {
  readonly items: readonly unknown[];
  readonly next_cursor: string | null;
}

/** How long a response counts as fresh. */
const FRESH_MS = 15_000;
const MAX_REPEATS = 2;

/** Refusals are final; only requests that never arrived are retried. */
const mayPass = (failure: Error): boolean =>
  failure instanceof ApiError && (failure.status === null || failure.status >= 502);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (count, failure) => count < MAX_REPEATS && mayPass(failure),
      retryDelay: (count) => 400 * 2 ** count,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

export const readOptions = <Route extends ReadRoute>(route: Route, input: CallInput<Route>) =>
  queryOptions({
    queryKey: [route, input.params ?? null, input.query ?? null] as const,
    queryFn: ({ signal }): Promise<Answer<Route>> => call(route, input, { signal }),
  });

/** Reads a route and keeps what was shown while another filter is loaded. */
export const useRead = <Route extends ReadRoute>(
  route: Route,
  input: CallInput<Route>,
  options: { readonly enabled?: boolean; readonly refetchMs?: number | false } = {},
) =>
  useQuery({
    ...readOptions(route, input),
    placeholderData: keepPreviousData,
    enabled: options.enabled ?? true,
    refetchInterval: options.refetchMs ?? false,
  });

/** Routes that answer a list in parts. */
export type ListRoute = {
  [Route in ReadRoute]: Answer<Route> extends ListPart ? Route : never;
}[ReadRoute];
export type ItemOf<Route extends ListRoute> = Answer<Route>['items'][number];

/** Reads a list part by part. */
export const useList = <Route extends ListRoute>(route: Route, input: CallInput<Route>) =>
  useInfiniteQuery({
    queryKey: [route, input.params ?? null, input.query ?? null, 'list'] as const,
    queryFn: ({ pageParam, signal }): Promise<Answer<Route>> =>
      call(
        route,
        { ...input, query: { ...input.query, ...(pageParam !== null && { cursor: pageParam }) } },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last: ListPart) => last.next_cursor,
    placeholderData: keepPreviousData,
  });

/** Changes something, and reloads whatever it affects. */
export function useChange<Route extends WriteRoute>(
  route: Route,
  touches: readonly ReadRoute[] = [],
): ReturnType<typeof useMutation<Answer<Route>, Error, CallInput<Route>>> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: CallInput<Route>) => call(route, input),
    onSuccess: () => Promise.all(touches.map((touched) => client.invalidateQueries({ queryKey: [touched] }))),
  });
}

export type Session = ConsoleSession;

/** The session. Read before any page is shown, so that every page has it. */
export const sessionQuery = { ...readOptions('GET /session', {}), staleTime: Infinity };

export function useSession(): Session {
  const { data } = useQuery(sessionQuery);
  if (!data) throw new Error('a page was shown without a session');
  return data;
}

/** Whether the person may do something; the server decides again. */
export const useMay = (permission: Session['permissions'][number]): boolean =>
  useSession().permissions.includes(permission);
