import { createHash } from 'node:crypto';

/** Enough to distinguish two settings of one entry; too little to reveal anything about a key. */
const CHARACTERS = 8;

/**
 * Names the key and the address that an entry stands for. What is known of an upstream's health belongs to these: a cooldown
 * after a wrong key must not outlive the key.
 */
export const accessFingerprint = (key: string | undefined, address: string | undefined): string =>
  createHash('sha256')
    .update(`${key ?? ''}\n${address ?? ''}`)
    .digest('hex')
    .slice(0, CHARACTERS);
