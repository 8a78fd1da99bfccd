import { retryOnConnectionError } from '#platform';

/** What BullMQ asks of a pool, and what it is given for its first question. */
interface PoolOfQueue<Client> {
  connect(): Promise<Client>;
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/**
 * The pool, on which the first connection always comes and answers. BullMQ asks once whether the schema is there, before
 * anything else, and remembers the answer forever: if it was that the server could not be reached, its queue would stay
 * dead until the process ends. So this one question is asked until it is answered; all others may fail as they do.
 */
export function withSureFirstConnection<Client, Pool extends PoolOfQueue<Client>>(pool: Pool): Pool {
  const first = {
    query: (text: string, values?: unknown[]) => retryOnConnectionError(() => pool.query(text, values), Infinity),
    release: () => undefined,
  };
  let isFirst = true;
  const connect = (): Promise<unknown> => {
    if (!isFirst) return pool.connect();
    isFirst = false;
    return Promise.resolve(first);
  };
  return new Proxy(pool, {
    get: (target, name) => {
      if (name === 'connect') return connect;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
