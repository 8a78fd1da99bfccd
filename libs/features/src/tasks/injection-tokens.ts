export const MEDIUM = Symbol('Medium');
/** Injects how many steps (a number) a worker works on at once. */
export const CONCURRENCY = Symbol('concurrency');
/** Injects for how long (a number of milliseconds) a task belongs to the worker that claimed it without being renewed. */
export const LEASE_MS = Symbol('lease');
export const STORE_LIMITS = Symbol('store limits');
/** Injects how long (a number of milliseconds) calls to vendors may continue when the process is stopped. */
export const CALL_GRACE_MS = Symbol('call grace');
