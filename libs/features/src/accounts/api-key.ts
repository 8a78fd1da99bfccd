import { createHmac, randomBytes } from 'node:crypto';

/** How much of a key stays visible to people, so that they can tell their keys apart. */
const VISIBLE_CHARACTERS = 12;

/** A fresh key: `sk-gw-` and 256 random bits. Shown once, never stored. */
export const newApiKey = (): string => `sk-gw-${randomBytes(32).toString('base64url')}`;

/** The part of a key that may be shown and stored; at most half of it, so that a short key is not given away. */
export const visiblePrefix = (key: string): string =>
  key.slice(0, Math.min(VISIBLE_CHARACTERS, Math.floor(key.length / 2)));

/** What is stored and looked up instead of a key: its keyed hash. Useless without the pepper, which is not in the database. */
export const hashApiKey = (key: string, pepper: string): Buffer => createHmac('sha256', pepper).update(key).digest();
