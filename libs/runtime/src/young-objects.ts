import { setFlagsFromString } from 'node:v8';

/**
 * Has V8 make all objects young. By itself it soon makes those of some places in the code old at once, because what was made there
 * while the process started is still needed. A request's objects that are made so are found dead by full collections alone, and until
 * then all that they refer to is kept and moved: 10 KB for each text request, and 6 ms instead of 2 for each small collection.
 */
export function makeObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
