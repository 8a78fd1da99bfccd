import { SignJWT } from 'jose';
import { type Credentials, keyCredentials } from '../http/credentials.js';
import { clockAheadMs, wordsOf } from '../http/vendor-words.js';

/** How long a token holds, and from how long before its making, in seconds (vendors.md 8). */
const LIFE_SECONDS = 1_800;
const EARLIER_SECONDS = 5;

/** Codes for a token that does not hold yet, and for one that holds no more. */
const OTHER_TIME = new Set(['1003', '1004']);

export const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` });

/**
 * An API key as it is, or `ACCESS_KEY:SECRET_KEY`, from which a token is signed for each call. A token that came at the
 * wrong time is signed once more by the vendor's own clock.
 */
export function klingCredentials(key: string): Credentials {
  const [accessKey = '', secretKey] = key.split(':', 2);
  if (secretKey === undefined) return keyCredentials(key, { authorization: bearer });
  const secret = new TextEncoder().encode(secretKey);
  let aheadMs = 0;
  return {
    headers: async () => {
      const now = Math.floor((Date.now() + aheadMs) / 1_000);
      const token = await new SignJWT()
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuer(accessKey)
        .setNotBefore(now - EARLIER_SECONDS)
        .setExpirationTime(now + LIFE_SECONDS)
        .sign(secret);
      return bearer(token);
    },
    renewedAfter: (reply) => {
      const { code } = wordsOf(reply.status, reply.body);
      const ahead = clockAheadMs(reply);
      if (code === undefined || !OTHER_TIME.has(code) || ahead === undefined) return false;
      aheadMs = ahead;
      return true;
    },
    secrets: () => [secretKey, accessKey],
  };
}
