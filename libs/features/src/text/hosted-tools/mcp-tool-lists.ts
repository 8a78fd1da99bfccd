import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ListedTool } from '#contracts';
import type { RequestedMcpServer } from './requested-tools.js';

/** How long a list of tools is believed, in milliseconds, and how much of all lists is kept, in characters. */
const KEPT_MS = 5 * 60_000;
const MOST_LISTS = 1_000;
const MOST_CHARACTERS = 16 * 1024 * 1024;

/** What a server said of its tools, and how long that is. */
export interface KnownList {
  readonly tools: readonly ListedTool[];
  readonly characters: number;
}

/**
 * What servers said of their tools, for the next request that names the same server in the same way. The name is a hash, so
 * that no token is kept.
 */
export class McpToolLists {
  readonly #lists = new LRUCache<string, KnownList>({
    max: MOST_LISTS,
    maxSize: MOST_CHARACTERS,
    ttl: KEPT_MS,
    sizeCalculation: ({ characters }) => characters,
  });

  get(accountId: string, requested: RequestedMcpServer): KnownList | undefined {
    return this.#lists.get(nameOf(accountId, requested));
  }

  set(accountId: string, requested: RequestedMcpServer, tools: readonly ListedTool[]): KnownList {
    const list = { tools, characters: JSON.stringify(tools).length };
    this.#lists.set(nameOf(accountId, requested), list);
    return list;
  }
}

const nameOf = (accountId: string, { url, token, headers }: RequestedMcpServer): string =>
  createHash('sha256')
    .update(JSON.stringify([accountId, url, token ?? null, headers ?? null]))
    .digest('base64');
