import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isJsonObject, type JsonObject, type ListedTool } from '#contracts';
import { type SafeFetcher, withinTime } from '#platform';
import { asMcpFailure, McpFailure, notOfProtocol, saidByServer } from './mcp-failure.js';
import { type McpResult, readMcpResult } from './mcp-result.js';
import { type McpFetch, safeMcpFetch } from './safe-mcp-fetch.js';
import { createSparingClient, type SparingClient } from './sparing-client.js';

/** The most tools of one server that are read, and the most characters of what it says of them. */
const MAX_TOOLS = 256;
const MAX_LIST_CHARACTERS = 512 * 1024;
const MAX_NAME = 256;

/** What a server says of its tools, page by page. Of those with the same name, which a call could not tell apart, the first counts. */
class ToolList {
  private readonly byName = new Map<string, ListedTool>();
  private characters = 0;

  /** @param secrets what a server may echo, and must not appear in an answer. */
  constructor(private readonly secrets: readonly string[]) {}

  get tools(): readonly ListedTool[] {
    return [...this.byName.values()];
  }

  /** Reads a page; answers where the next one is. @throws McpFailure for what is not a list, or too much of it. */
  add({ tools, nextCursor }: JsonObject): string | undefined {
    if (!Array.isArray(tools) || !isCursor(nextCursor)) throw notOfProtocol();
    if (this.byName.size + tools.length > MAX_TOOLS) throw new McpFailure(`it lists more than ${MAX_TOOLS} tools`);
    for (const sent of tools) {
      const tool = listedTool(sent);
      this.characters += JSON.stringify(tool).length;
      if (this.characters > MAX_LIST_CHARACTERS)
        throw new McpFailure(`it says more than ${MAX_LIST_CHARACTERS} characters about its tools`);
      if (!this.byName.has(tool.name)) this.byName.set(tool.name, saidByServer(tool, this.secrets));
    }
    return nextCursor ?? undefined;
  }
}

const isCursor = (sent: unknown): sent is string | null | undefined =>
  sent === undefined || sent === null || typeof sent === 'string';

function listedTool(sent: unknown): ListedTool {
  if (!isJsonObject(sent)) throw notOfProtocol();
  const { name, title, description, inputSchema, annotations } = sent as JsonObject;
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME)
    throw new McpFailure(`it lists a tool without a name of 1 to ${MAX_NAME} characters`);
  return {
    name,
    description: textOf(description) ?? textOf(title) ?? '',
    inputSchema: isJsonObject(inputSchema) ? inputSchema : {},
    ...(isJsonObject(annotations) && { annotations }),
  };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** A server of tools, as a request names it. */
export interface McpServer {
  readonly url: string;
  /** Sent as a bearer token; kept nowhere beyond the request. */
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Longest time of one exchange with it, connecting included, in milliseconds. */
  readonly timeoutMs: number;
}

/** Bounds that are the same for every server. */
export interface McpBounds {
  /** Longest life of a connection, in milliseconds. */
  readonly lifetimeMs: number;
  readonly maxReplyBytes: number;
  /** Asked before each call: a server may ask for answers of ours without end. */
  readonly mayCall: () => boolean;
}

/** The most pages of a list of tools. */
const MAX_PAGES = 64;
const SECRET_LENGTH = 8;

/** How long the end of a session is waited for, in milliseconds. Only the server waits for it. */
const END_MS = 2_000;

/** Answers to a new server's first call that mean: ask as servers were asked before. */
const OLDER_SERVER = new Set([400, 404, 405, 406, 415]);

const NOT_FOUND = 404;

interface Open {
  readonly client: SparingClient;
  /** Whether the server knows the client by a session, which it may forget at any time. */
  readonly hasSession: () => boolean;
  /** Aborted with the reason when the body of an answer breaks, which the client library does not report to the waiting call. */
  readonly broken: AbortSignal;
  readonly end: () => Promise<void>;
}

/** One connection to one server, for one request; opened when it is first needed. */
export class McpConnection {
  private readonly closed = new AbortController();
  private opening: Promise<Open> | undefined;

  constructor(
    private readonly fetcher: SafeFetcher,
    private readonly accountId: string,
    private readonly server: McpServer,
    private readonly bounds: McpBounds,
  ) {}

  /**
   * The tools of the server, all pages of them.
   *
   * @throws McpFailure; what `signal` throws when it is aborted.
   */
  listTools(signal: AbortSignal): Promise<readonly ListedTool[]> {
    return this.exchange(signal, async (client, options) => {
      const list = new ToolList(this.secrets());
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const params = cursor === undefined ? {} : { cursor };
        cursor = list.add(await client.ask({ method: 'tools/list', params }, options));
        if (cursor === undefined) return list.tools;
      }
      throw new McpFailure(`it lists its tools on more than ${MAX_PAGES} pages`);
    });
  }

  /**
   * Calls a tool.
   *
   * @throws McpFailure; what `signal` throws when it is aborted.
   */
  callTool(name: string, args: JsonObject, signal: AbortSignal): Promise<McpResult> {
    return this.exchange(signal, async (client, options) => {
      const params = { name, arguments: args };
      const result = await client.ask({ method: 'tools/call', params }, options);
      return readMcpResult(result, this.secrets());
    });
  }

  /** Ends the session at the server, without waiting for its answer. */
  close(): void {
    const open = this.opening;
    this.opening = undefined;
    const abort = (): void => this.closed.abort(new McpFailure('the connection is closed'));
    if (!open) return abort();
    void open
      .then(({ end }) => end())
      .catch(() => undefined)
      .finally(abort);
  }

  private async exchange<Result>(signal: AbortSignal, work: Work<Result>): Promise<Result> {
    const { timeoutMs } = this.server;
    try {
      return await withinTime(timeoutMs, AbortSignal.any([signal, this.closed.signal]), async (inTime) => {
        const opening = this.open(inTime);
        try {
          return await this.within(opening, inTime, work);
        } catch (error) {
          if (!(await isForgotten(opening, error))) throw error;
          // The server did nothing yet: it did not know who asked.
          this.forget(opening);
          return await this.within(this.open(inTime), inTime, work);
        }
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw asMcpFailure(error, timeoutMs, this.secrets());
    }
  }

  private async within<Result>(opening: Promise<Open>, inTime: AbortSignal, work: Work<Result>): Promise<Result> {
    const { client, broken } = await unlessAborted(inTime, opening);
    const options = { timeout: this.server.timeoutMs, signal: inTime };
    return unlessAborted(broken, unlessAborted(inTime, work(client, options)));
  }

  private forget(opening: Promise<Open>): void {
    if (this.opening === opening) this.opening = undefined;
  }

  /** A connection that could not be opened, or broke, makes room for another one. */
  private open(signal: AbortSignal): Promise<Open> {
    if (this.opening) return this.opening;
    const opening = this.connect(signal);
    const forget = (): void => this.forget(opening);
    opening.then(({ broken }) => broken.addEventListener('abort', forget), forget);
    this.opening = opening;
    return opening;
  }

  private async connect(signal: AbortSignal): Promise<Open> {
    const [{ StreamableHTTPClientTransport }, { SSEClientTransport }] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
      import('@modelcontextprotocol/sdk/client/sse.js'),
    ]);
    const broken = new AbortController();
    const fetch = this.fetch(broken);
    const url = new URL(this.server.url);
    const requestInit = { headers: this.headers() };
    const connect = async (transport: Transport): Promise<SparingClient> => {
      const client = await createSparingClient();
      try {
        const connecting = client.connect(transport, { timeout: this.server.timeoutMs, signal });
        await unlessAborted(broken.signal, unlessAborted(signal, connecting));
        return client;
      } catch (error) {
        await client.close();
        throw error;
      }
    };
    const streamable = new StreamableHTTPClientTransport(url, { fetch: withoutListening(fetch), requestInit });
    try {
      const client = await connect(streamable);
      const end = (): Promise<void> => withinTime(END_MS, undefined, () => ended(client, streamable));
      return { client, hasSession: () => streamable.sessionId !== undefined, broken: broken.signal, end };
    } catch (error) {
      if (!OLDER_SERVER.has(Number((error as { code?: unknown }).code))) throw error;
      const client = await connect(new SSEClientTransport(url, { fetch, requestInit }));
      return { client, hasSession: () => false, broken: broken.signal, end: () => client.close() };
    }
  }

  private fetch(broken: AbortController): McpFetch {
    const { timeoutMs } = this.server;
    const bounds = { ...this.bounds, accountId: this.accountId, timeoutMs };
    const onBroken = (error: unknown): void => broken.abort(error);
    return safeMcpFetch(this.fetcher, bounds, { signal: this.closed.signal, onBroken });
  }

  /** What opens the server, long enough that no word is taken for it. */
  private secrets(): readonly string[] {
    const { token, headers = {} } = this.server;
    return [token ?? '', ...Object.values(headers)].filter((secret) => secret.length >= SECRET_LENGTH);
  }

  private headers(): Record<string, string> {
    const { token, headers } = this.server;
    return { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  }
}

/** Something that is done over a connection. */
type Work<Result> = (client: SparingClient, options: { timeout: number; signal: AbortSignal }) => Promise<Result>;

/** Whether the server has forgotten the session, which it says with this status; the client is to begin another one. */
async function isForgotten(opening: Promise<Open>, error: unknown): Promise<boolean> {
  if ((error as { code?: unknown }).code !== NOT_FOUND) return false;
  const open = await opening.catch(() => undefined);
  return open?.hasSession() ?? false;
}

/** The client library does not heed a signal everywhere that it waits. */
function unlessAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

async function ended(client: SparingClient, transport: { terminateSession(): Promise<void> }): Promise<void> {
  await transport.terminateSession().catch(() => undefined);
  await client.close();
}

/** Unsolicited messages of a server are not read: the stream for them is not opened, unless a call continues in it. */
const withoutListening =
  (fetch: McpFetch): McpFetch =>
  (url, init = {}) =>
    (init.method ?? 'GET') === 'GET' && !new Headers(init.headers).has('last-event-id')
      ? Promise.resolve(new Response(null, { status: 405 }))
      : fetch(url, init);
