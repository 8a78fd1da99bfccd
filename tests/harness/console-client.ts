import type { ConsoleApi, ConsoleFailure } from '#contracts';
import type { TestGateway } from './test-gateway.js';

/** What a page of the console sends with a change. */
export const OWN_PAGE = { 'sec-fetch-site': 'same-origin', 'x-console': '1', 'content-type': 'application/json' };

/** An answer of a route of the console, or why there is none. */
export interface ConsoleAnswer<Name extends keyof ConsoleApi> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ConsoleApi[Name]['answer'] & Partial<ConsoleFailure>;
  /** As it came, of what is not JSON. */
  readonly text: string;
}

/** A browser with the console open. */
export interface ConsoleClient {
  /** What it sends as a cookie. */
  cookie: string;
  /** Calls a route; `path` when it has parameters or a query. */
  call<Name extends keyof ConsoleApi>(name: Name, body?: unknown, path?: string): Promise<ConsoleAnswer<Name>>;
}

/** A browser without a session. */
export function consoleClient({ baseUrl }: Pick<TestGateway, 'baseUrl'>): ConsoleClient {
  const client: ConsoleClient = {
    cookie: '',
    call: async (name, body = {}, path) => {
      const [method = '', pattern = ''] = name.split(' ');
      const answer = await fetch(`${baseUrl}/console/api${path ?? pattern}`, {
        method,
        headers: { cookie: client.cookie, ...(method === 'POST' && OWN_PAGE) },
        ...(method === 'POST' && { body: JSON.stringify(body) }),
      });
      const given = answer.headers.get('set-cookie');
      if (given !== null) client.cookie = given.split(';')[0] ?? '';
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.startsWith('application/json');
      return {
        status: answer.status,
        headers: answer.headers,
        text,
        body: (isJson ? JSON.parse(text) : null) as never,
      };
    },
  };
  return client;
}
