import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits for a link or a cookie. Shown once, never stored. */
export const newSecretCode = (): string => randomBytes(32).toString('base64url');

/** What is stored and looked up instead. A plain hash of 256 random bits reveals nothing. */
export const hashOfCode = (code: string): Buffer => createHash('sha256').update(code).digest();
