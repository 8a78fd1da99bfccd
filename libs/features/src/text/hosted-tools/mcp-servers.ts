import { GatewayError, type JsonObject, type ListedTool } from '#contracts';
import type { SafeFetcher } from '#platform';
import { McpConnection, McpFailure, type McpResult } from '#providers';
import type { RequestedMcpServer } from './requested-tools.js';
import type { McpToolLists } from './mcp-tool-lists.js';

/** The most that one answer of a server may be, in bytes. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/** The connections of one request to the servers that it names; each is opened when it is needed. */
export class McpServers {
  readonly #fetcher: SafeFetcher;
  readonly #accountId: string;
  readonly #lists: McpToolLists;
  readonly #lifetimeMs: number;
  readonly #connections = new Map<RequestedMcpServer, McpConnection>();

  constructor(fetcher: SafeFetcher, accountId: string, lists: McpToolLists, lifetimeMs: number) {
    this.#fetcher = fetcher;
    this.#accountId = accountId;
    this.#lists = lists;
    this.#lifetimeMs = lifetimeMs;
  }

  /**
   * What a server says of its tools, of which it need not be asked again for some minutes.
   *
   * @throws GatewayError `invalid_parameter` naming the server's place in the request; what `signal` throws.
   */
  async list(requested: RequestedMcpServer, signal: AbortSignal): Promise<readonly ListedTool[]> {
    const known = this.#lists.get(this.#accountId, requested);
    if (known) return known;
    try {
      const tools = await this.#connection(requested).listTools(signal);
      this.#lists.set(this.#accountId, requested, tools);
      return tools;
    } catch (error) {
      if (!(error instanceof McpFailure)) throw error;
      const [param = 'tools'] = requested.params;
      const message = `${param}: the server "${requested.label}" did not list its tools: ${error.message}.`;
      throw new GatewayError('invalid_parameter', message, { param, cause: error });
    }
  }

  /** @throws McpFailure; what `signal` throws. */
  call(requested: RequestedMcpServer, name: string, args: JsonObject, signal: AbortSignal): Promise<McpResult> {
    return this.#connection(requested).callTool(name, args, signal);
  }

  close(): void {
    for (const connection of this.#connections.values()) connection.close();
    this.#connections.clear();
  }

  #connection(requested: RequestedMcpServer): McpConnection {
    const known = this.#connections.get(requested);
    if (known) return known;
    const bounds = { lifetimeMs: this.#lifetimeMs, maxReplyBytes: MAX_REPLY_BYTES };
    const made = new McpConnection(this.#fetcher, this.#accountId, requested, bounds);
    this.#connections.set(requested, made);
    return made;
  }
}
