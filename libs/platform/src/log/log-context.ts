import { AsyncLocalStorage } from 'node:async_hooks';

/** What every line of a piece of work carries, so that one request or task can be followed through all of them. */
export interface LogContext {
  readonly requestId?: string;
  readonly taskId?: string;
}

const storage = new AsyncLocalStorage<LogContext>();

/** Runs `work` with `context` added to every line that it and everything it awaits will log. */
export const withLogContext = <Result>(context: LogContext, work: () => Result): Result =>
  storage.run({ ...storage.getStore(), ...context }, work);

/** The context of the running work; empty outside of any. */
export const logContext = (): LogContext => storage.getStore() ?? {};
