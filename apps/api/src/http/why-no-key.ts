import type { Request } from 'express';

const BEARER_ALONE = /^Bearer\s*$/i;
/** Named in the answer; any other first word may be a part of the secret itself, and is not repeated. */
const OTHER_SCHEME = /^(Basic|Digest|Token|ApiKey|Api-Key|Key)\s/i;

/**
 * Why no key was found in a request that tried to send one, as a sentence; undefined when it did not try.
 *
 * @param what how the secret is called, and `header` how it is sent.
 */
export function whyNoKey(request: Request, what: 'key' | 'token', header: string): string | undefined {
  const { authorization } = request.headers;
  if (!authorization) return undefined;
  if (BEARER_ALONE.test(authorization))
    return `The Authorization header has no ${what} after the word Bearer. Is the variable empty that should hold it?`;
  const scheme = OTHER_SCHEME.exec(authorization)?.[1];
  if (scheme) return `The Authorization header must be ${header}; the scheme ${scheme} is not supported.`;
  return `The Authorization header lacks the word Bearer before the ${what}: it must be ${header}.`;
}
