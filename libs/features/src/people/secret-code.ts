import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits for a link or a cookie. Shown once, never stored. */
export const newSecretCode = (): string => randomBytes(32).toString('base64url');

/** What is stored and looked up instead. Of 256 random bits a plain hash tells nothing. */
export const hashOfCode = (code: string): Buffer => createHash('sha256').update(code).digest();
