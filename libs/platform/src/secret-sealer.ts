import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Secrets } from './secrets.js';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts secrets that the database must keep but a reader of the database must not learn. */
export class SecretSealer {
  private readonly key: Buffer;

  constructor({ keyPepper }: Secrets) {
    this.key = Buffer.from(hkdfSync('sha256', keyPepper, '', 'sealed secrets of the database', KEY_BYTES));
  }

  /** `owner` names the row the secret belongs to; sealed for one, it does not open for another. */
  seal(secret: string, owner: string): Buffer {
    return sealWith(this.key, Buffer.from(secret), owner);
  }

  /** @throws Error when it was sealed under another key or for another owner, or was changed. */
  open(sealed: Uint8Array, owner: string): string {
    return openWith(this.key, sealed, owner).toString('utf8');
  }

  /** A new key for much that is to become unreadable at once, sealed itself: when that is deleted, nobody opens what it sealed. */
  newKey(owner: string): Buffer {
    return sealWith(this.key, randomBytes(KEY_BYTES), owner);
  }

  /** What seals with such a key. @throws Error as `open`. */
  withKey(sealedKey: Uint8Array, owner: string): ContentSealer {
    return new ContentSealer(openWith(this.key, sealedKey, owner));
  }
}

/** Encrypts what belongs to one owner with a key of its own. */
class ContentSealer {
  constructor(private readonly key: Buffer) {}

  /** `row` names the row that it is for; sealed for one, it does not open for another. */
  seal(content: Uint8Array, row: string): Buffer {
    return sealWith(this.key, content, row);
  }

  /** @throws Error when it was sealed under another key or for another row, or was changed. */
  open(sealed: Uint8Array, row: string): Buffer {
    return openWith(this.key, sealed, row);
  }
}

function sealWith(key: Buffer, content: Uint8Array, owner: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(owner));
  const sealed = Buffer.concat([cipher.update(content), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

function openWith(key: Buffer, sealed: Uint8Array, owner: string): Buffer {
  const bytes = Buffer.from(sealed);
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
