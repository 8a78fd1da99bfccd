/** After this many failed attempts a task is given up: the next would most likely fail like the others. */
export const MAX_FAILURES = 6;
