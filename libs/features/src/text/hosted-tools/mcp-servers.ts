import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { GatewayError, type JsonObject, type ListedTool } from '#contracts';
import type { SafeFetcher } from '#platform';
import { McpConnection, McpFailure, type McpResult } from '#providers';
import type { ReserveMemory } from '../../limits/reserve-memory.js';
import type { RequestedMcpServer } from './requested-tools.js';

/** The most that one answer of a server may be, in bytes. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/** The most calls to all servers of a request: each may ask for answers of ours, or list its tools, without end. */
const MAX_CALLS = 512;

/** The most that all servers of a request may say of their tools, in characters. */
const MAX_LISTED_CHARACTERS = 1024 * 1024;

/** What the servers of one request may use. */
interface McpServersBounds {
  /** Longest life of a connection, in milliseconds. */
  readonly lifetimeMs: number;
  /** Lists weigh what bodies of their length do, until the answer is sent. */
  readonly reserve: ReserveMemory;
}

/** The connections of one request to the servers that it names; each is opened when it is needed. */
export class McpServers {
  private readonly connections = new Map<RequestedMcpServer, McpConnection>();
  private readonly lists = new Map<RequestedMcpServer, KnownList>();
  private characters = 0;
  private callsLeft = MAX_CALLS;

  constructor(
    private readonly fetcher: SafeFetcher,
    private readonly accountId: string,
    private readonly known: McpToolLists,
    private readonly bounds: McpServersBounds,
  ) {}

  /**
   * Whether a server need not be asked for its tools: it was some minutes ago.
   *
   * @throws GatewayError as `list`, where all lists together are too long.
   */
  isListed(requested: RequestedMcpServer): boolean {
    const known = this.known.get(this.accountId, requested);
    if (known) this.keep(requested, known);
    return known !== undefined;
  }

  /**
   * Asks a server for its tools.
   *
   * @throws GatewayError `invalid_parameter` naming the server's place in the request; what `reserve` and `signal` throw.
   */
  async list(requested: RequestedMcpServer, signal: AbortSignal): Promise<void> {
    const { reserve } = this.bounds;
    // Memory is counted twice for each byte, as bytes and as text: a list is read in both.
    reserve(MAX_REPLY_BYTES / 2);
    try {
      const tools = await this.connection(requested).listTools(signal);
      this.keep(requested, this.known.set(this.accountId, requested, tools));
    } catch (error) {
      if (!(error instanceof McpFailure)) throw error;
      throw refusedFor(requested, `the server "${requested.label}" did not list its tools: ${error.message}.`, error);
    } finally {
      reserve(-MAX_REPLY_BYTES / 2);
    }
  }

  /** What a server that is listed said of its tools. */
  toolsOf(requested: RequestedMcpServer): readonly ListedTool[] {
    return this.lists.get(requested)?.tools ?? [];
  }

  /** @throws McpFailure; what `signal` throws. */
  call(requested: RequestedMcpServer, name: string, args: JsonObject, signal: AbortSignal): Promise<McpResult> {
    return this.connection(requested).callTool(name, args, signal);
  }

  close(): void {
    for (const connection of this.connections.values()) connection.close();
    this.connections.clear();
  }

  private keep(requested: RequestedMcpServer, list: KnownList): void {
    this.characters += list.characters;
    if (this.characters > MAX_LISTED_CHARACTERS)
      throw refusedFor(
        requested,
        `the servers of the request say more than ${MAX_LISTED_CHARACTERS} characters of their tools together; name fewer of them.`,
      );
    this.bounds.reserve(list.characters);
    this.lists.set(requested, list);
  }

  private connection(requested: RequestedMcpServer): McpConnection {
    const known = this.connections.get(requested);
    if (known) return known;
    const made = new McpConnection(this.fetcher, this.accountId, requested, {
      lifetimeMs: this.bounds.lifetimeMs,
      maxReplyBytes: MAX_REPLY_BYTES,
      mayCall: () => (this.callsLeft -= 1) >= 0,
    });
    this.connections.set(requested, made);
    return made;
  }
}

function refusedFor({ params: [param = 'tools'] }: RequestedMcpServer, rule: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_parameter', `${param}: ${rule}`, { param, cause });
}

/** How long a list of tools is believed, in milliseconds, and how much of all lists is kept, in characters. */
const KEPT_MS = 5 * 60_000;
const MOST_LISTS = 1_000;
const MOST_CHARACTERS = 16 * 1024 * 1024;

/** What a server said of its tools, and how long that is. */
interface KnownList {
  readonly tools: readonly ListedTool[];
  readonly characters: number;
}

/**
 * What servers said of their tools, for the next request that names the same server in the same way. The name is a hash, so
 * that no token is kept.
 */
export class McpToolLists {
  private readonly lists = new LRUCache<string, KnownList>({
    max: MOST_LISTS,
    maxSize: MOST_CHARACTERS,
    ttl: KEPT_MS,
    sizeCalculation: ({ characters }) => characters,
  });

  get(accountId: string, requested: RequestedMcpServer): KnownList | undefined {
    return this.lists.get(nameOf(accountId, requested));
  }

  set(accountId: string, requested: RequestedMcpServer, tools: readonly ListedTool[]): KnownList {
    const list = { tools, characters: JSON.stringify(tools).length };
    this.lists.set(nameOf(accountId, requested), list);
    return list;
  }
}

const nameOf = (accountId: string, { url, token, headers }: RequestedMcpServer): string =>
  createHash('sha256')
    .update(JSON.stringify([accountId, url, token ?? null, headers ?? null]))
    .digest('base64');
