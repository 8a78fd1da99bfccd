import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerConfig } from './config/server.config.js';

const FILE = 'admin-token.sha256';

/** What opens the admin API. Only its hash is known, except for the one moment when it is made. */
export class AdminToken {
  constructor(
    /** SHA-256 of the token; null: there is none, and nothing opens. */
    readonly digest: Buffer | null,
    /** The token itself when it was just made, to be shown once. */
    readonly shownOnce: string | null = null,
  ) {}

  /** True for the right token. Takes the same time however much of it is right. */
  opens(presented: string): boolean {
    return this.digest !== null && timingSafeEqual(sha256(presented), this.digest);
  }
}

/**
 * The token of ADMIN_TOKEN. Without one, an embedded gateway makes a token at its first start and keeps the hash in
 * DATA_DIR; any other gateway has none and keeps its admin API shut.
 */
export async function loadAdminToken(
  { ADMIN_TOKEN, DATA_DIR }: Pick<ServerConfig, 'ADMIN_TOKEN' | 'DATA_DIR'>,
  embedded: boolean,
): Promise<AdminToken> {
  if (ADMIN_TOKEN) return new AdminToken(sha256(ADMIN_TOKEN));
  if (!embedded) return new AdminToken(null);
  const path = join(DATA_DIR, FILE);
  const kept = await readDigest(path);
  return kept ? new AdminToken(kept) : createToken(path, DATA_DIR);
}

/** Written whole under another name and then linked: a crash leaves no half file, and of two processes one wins. */
async function createToken(path: string, folder: string): Promise<AdminToken> {
  const token = `admin-${randomBytes(24).toString('base64url')}`;
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await mkdir(folder, { recursive: true });
  await writeFile(draft, sha256(token).toString('hex'), { mode: 0o600 });
  try {
    await link(draft, path);
    return new AdminToken(sha256(token), token);
  } catch (error) {
    const theirs = await readDigest(path);
    if (theirs) return new AdminToken(theirs);
    throw error;
  } finally {
    await rm(draft);
  }
}

async function readDigest(path: string): Promise<Buffer | null> {
  try {
    const text = (await readFile(path, 'utf8')).trim();
    if (!/^[0-9a-f]{64}$/.test(text)) throw new Error(`${path} does not hold a hash; delete it to get a new token.`);
    return Buffer.from(text, 'hex');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
