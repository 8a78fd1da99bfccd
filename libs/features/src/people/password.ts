import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '#contracts';
import { FairSlots, NoSlot } from '#platform';

/** A hash takes 128 MiB and a third of a second: slow for guessing. Written into each, so that it can grow. */
const COST = { log2N: 17, r: 8, p: 1 } as const;
const HASH_BYTES = 32;
const SALT_BYTES = 16;

/** Hashes at work at once, each with the memory of `COST`, and those that wait for them. */
const slots = new FairSlots({ most: 2, mostPerShare: 2, mostWaitingPerShare: 40, waitMs: 30_000 });
const TRY_AGAIN_MS = 2_000;

export const PASSWORD_CHARACTERS = { min: 12, max: 200 } as const;

const FORM = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([\w-]+)\$([\w-]+)$/;

/** What is stored of a password: algorithm, costs, salt and hash. @throws GatewayError `overloaded`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, COST);
  const { log2N, r, p } = COST;
  return ['scrypt', log2N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/**
 * Whether a password is the stored one. Takes as long when nothing is stored, so that timing does not reveal which users have a password.
 *
 * @throws GatewayError `overloaded`: too many wait already; it was not looked at.
 */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [, log2N, r, p, salt = '', hash = ''] = FORM.exec(stored ?? '') ?? [];
  const cost = log2N === undefined ? COST : { log2N: Number(log2N), r: Number(r), p: Number(p) };
  const derived = await derive(password, Buffer.from(salt, 'base64url'), cost);
  const known = Buffer.from(hash, 'base64url');
  return known.length === derived.length && timingSafeEqual(derived, known);
}

/** The same characters however they were typed: NFKC, as people expect of one word in two keyboards. */
async function derive(
  password: string,
  salt: Buffer,
  { log2N, r, p }: { readonly log2N: number; readonly r: number; readonly p: number },
): Promise<Buffer> {
  const N = 2 ** log2N;
  const hash = (): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      scrypt(password.normalize('NFKC'), salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  try {
    return await slots.run('', hash);
  } catch (error) {
    if (!(error instanceof NoSlot)) throw error;
    const message = 'Too many people are signing in at once; try again.';
    throw new GatewayError('overloaded', message, { retryAfterMs: TRY_AGAIN_MS });
  }
}

/** 256 random bits for a link or a cookie. Shown once, never stored. */
export const newSecretCode = (): string => randomBytes(32).toString('base64url');

/** What is stored and looked up instead. A plain hash of 256 random bits reveals nothing. */
export const hashOfCode = (code: string): Buffer => createHash('sha256').update(code).digest();
