import { GatewayError, type JsonObject, type ListedTool } from '#contracts';
import type { SafeFetcher } from '#platform';
import { McpConnection, McpFailure, type McpResult } from '#providers';
import type { ReserveMemory } from '../../limits/reserve-memory.js';
import type { KnownList, McpToolLists } from './mcp-tool-lists.js';
import type { RequestedMcpServer } from './requested-tools.js';

/** The most that one answer of a server may be, in bytes. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/** The most calls to all servers of a request: each may ask for answers of ours, or list its tools, without end. */
const MAX_CALLS = 512;

/** The most that all servers of a request may say of their tools, in characters. */
const MAX_LISTED_CHARACTERS = 1024 * 1024;

/** What the servers of one request may use. */
export interface McpServersBounds {
  /** Longest life of a connection, in milliseconds. */
  readonly lifetimeMs: number;
  /** Lists weigh what bodies of their length do, until the answer is sent. */
  readonly reserve: ReserveMemory;
}

/** The connections of one request to the servers that it names; each is opened when it is needed. */
export class McpServers {
  readonly #fetcher: SafeFetcher;
  readonly #accountId: string;
  readonly #known: McpToolLists;
  readonly #bounds: McpServersBounds;
  readonly #connections = new Map<RequestedMcpServer, McpConnection>();
  readonly #lists = new Map<RequestedMcpServer, KnownList>();
  #characters = 0;
  #callsLeft = MAX_CALLS;

  constructor(fetcher: SafeFetcher, accountId: string, known: McpToolLists, bounds: McpServersBounds) {
    this.#fetcher = fetcher;
    this.#accountId = accountId;
    this.#known = known;
    this.#bounds = bounds;
  }

  /**
   * Whether a server need not be asked for its tools: it was some minutes ago.
   *
   * @throws GatewayError as `list`, where all lists together are too long.
   */
  isListed(requested: RequestedMcpServer): boolean {
    const known = this.#known.get(this.#accountId, requested);
    if (known) this.#keep(requested, known);
    return known !== undefined;
  }

  /**
   * Asks a server for its tools.
   *
   * @throws GatewayError `invalid_parameter` naming the server's place in the request; what `reserve` and `signal` throw.
   */
  async list(requested: RequestedMcpServer, signal: AbortSignal): Promise<void> {
    const { reserve } = this.#bounds;
    // Memory is counted twice for each byte, as bytes and as text: a list is read in both.
    reserve(MAX_REPLY_BYTES / 2);
    try {
      const tools = await this.#connection(requested).listTools(signal);
      this.#keep(requested, this.#known.set(this.#accountId, requested, tools));
    } catch (error) {
      if (!(error instanceof McpFailure)) throw error;
      throw refusedFor(requested, `the server "${requested.label}" did not list its tools: ${error.message}.`, error);
    } finally {
      reserve(-MAX_REPLY_BYTES / 2);
    }
  }

  /** What a server that is listed said of its tools. */
  toolsOf(requested: RequestedMcpServer): readonly ListedTool[] {
    return this.#lists.get(requested)?.tools ?? [];
  }

  /** @throws McpFailure; what `signal` throws. */
  call(requested: RequestedMcpServer, name: string, args: JsonObject, signal: AbortSignal): Promise<McpResult> {
    return this.#connection(requested).callTool(name, args, signal);
  }

  close(): void {
    for (const connection of this.#connections.values()) connection.close();
    this.#connections.clear();
  }

  #keep(requested: RequestedMcpServer, list: KnownList): void {
    this.#characters += list.characters;
    if (this.#characters > MAX_LISTED_CHARACTERS)
      throw refusedFor(
        requested,
        `the servers of the request say more than ${MAX_LISTED_CHARACTERS} characters of their tools together; name fewer of them.`,
      );
    this.#bounds.reserve(list.characters);
    this.#lists.set(requested, list);
  }

  #connection(requested: RequestedMcpServer): McpConnection {
    const known = this.#connections.get(requested);
    if (known) return known;
    const made = new McpConnection(this.#fetcher, this.#accountId, requested, {
      lifetimeMs: this.#bounds.lifetimeMs,
      maxReplyBytes: MAX_REPLY_BYTES,
      mayCall: () => (this.#callsLeft -= 1) >= 0,
    });
    this.#connections.set(requested, made);
    return made;
  }
}

function refusedFor({ params: [param = 'tools'] }: RequestedMcpServer, rule: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_parameter', `${param}: ${rule}`, { param, cause });
}
