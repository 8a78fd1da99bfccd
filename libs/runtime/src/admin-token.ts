import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDataFolder, type ServerConfig } from '#platform';

const FILE = 'admin-token.sha256';

/** Shows a secret to the person that started the process, at the only moment it is known. */
export type ShowSecret = (line: string) => void;

/** What opens the admin API. Only its hash is known, except for the one moment when it is made. */
export class AdminToken {
  constructor(
    /** Reads the SHA-256 of the token; null: there is none, and nothing opens. */
    private readonly readDigest: () => Buffer | null,
    /** The token itself when it was just made, to be shown once. */
    readonly shownOnce: string | null = null,
  ) {}

  /** The SHA-256 of the token as it is now; null: there is none, and nothing opens. */
  get digest(): Buffer | null {
    return this.readDigest();
  }

  /** True for the right token. Takes the same time however much of it is right. */
  opens(presented: string): boolean {
    const { digest } = this;
    return digest !== null && timingSafeEqual(sha256(presented), digest);
  }
}

/**
 * The token of ADMIN_TOKEN. Without one, an embedded gateway makes a token at its first start and keeps the hash in
 * DATA_DIR, where `renewAdminToken` may put another while it runs; any other gateway has none and keeps its admin API
 * shut.
 *
 * @param showSecret gets a new token as soon as it is stored.
 */
export async function loadAdminToken(
  { ADMIN_TOKEN, DATA_DIR }: Pick<ServerConfig, 'ADMIN_TOKEN' | 'DATA_DIR'>,
  embedded: boolean,
  showSecret: ShowSecret = () => undefined,
): Promise<AdminToken> {
  if (ADMIN_TOKEN) return fixedToken(sha256(ADMIN_TOKEN));
  if (!embedded) return fixedToken(null);
  const path = join(DATA_DIR, FILE);
  const made = readDigest(path) ? null : await createToken(path, DATA_DIR);
  if (made !== null)
    showSecret(`  Admin token  ${made}   (shown this once; opens /admin/v1 and the operator pages of the console)`);
  return new AdminToken(() => readDigest(path), made);
}

/**
 * Puts a new token in place of the one in DATA_DIR, and answers it. A running gateway of the folder takes it at once;
 * the old one opens nothing any more.
 */
export async function renewAdminToken({ DATA_DIR }: Pick<ServerConfig, 'DATA_DIR'>): Promise<string> {
  makeDataFolder(DATA_DIR);
  const path = join(DATA_DIR, FILE);
  const { token, draft } = await draftToken(path);
  await rename(draft, path);
  return token;
}

const fixedToken = (digest: Buffer | null): AdminToken => new AdminToken(() => digest);

/** Answers the token, or null when another process made one first. */
async function createToken(path: string, folder: string): Promise<string | null> {
  makeDataFolder(folder);
  const { token, draft } = await draftToken(path);
  try {
    await link(draft, path);
    return token;
  } catch (error) {
    if (readDigest(path)) return null;
    throw error;
  } finally {
    await rm(draft);
  }
}

/** Written whole under another name first: a crash leaves no half file, and of two processes one wins. */
async function draftToken(path: string): Promise<{ token: string; draft: string }> {
  const token = `admin-${randomBytes(24).toString('base64url')}`;
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, sha256(token).toString('hex'), { mode: 0o600 });
  return { token, draft };
}

function readDigest(path: string): Buffer | null {
  try {
    const text = readFileSync(path, 'utf8').trim();
    if (!/^[0-9a-f]{64}$/.test(text)) throw new Error(`${path} does not hold a hash; delete it to get a new token.`);
    return Buffer.from(text, 'hex');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
