import { isJsonObject, type JsonObject, type ListedTool } from '#contracts';
import { McpFailure, notOfProtocol } from './mcp-failure.js';
import { withoutSecrets } from './mcp-secrets.js';

/** The most tools of one server that are read, and the most characters of what it says of them. */
const MAX_TOOLS = 256;
const MAX_LIST_CHARACTERS = 512 * 1024;
const MAX_NAME = 256;

/** What a server says of its tools, page by page. Of those with the same name, which a call could not tell apart, the first counts. */
export class ToolList {
  readonly #tools = new Map<string, ListedTool>();
  readonly #secrets: readonly string[];
  #characters = 0;

  /** @param secrets what a server may echo, and must not appear in an answer. */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  get tools(): readonly ListedTool[] {
    return [...this.#tools.values()];
  }

  /** Reads a page; answers where the next one is. @throws McpFailure for what is no list, or too much of it. */
  add({ tools, nextCursor }: JsonObject): string | undefined {
    if (!Array.isArray(tools) || !isCursor(nextCursor)) throw notOfProtocol();
    if (this.#tools.size + tools.length > MAX_TOOLS) throw new McpFailure(`it lists more than ${MAX_TOOLS} tools`);
    for (const sent of tools) {
      const tool = listedTool(sent);
      this.#characters += JSON.stringify(tool).length;
      if (this.#characters > MAX_LIST_CHARACTERS)
        throw new McpFailure(`it says more than ${MAX_LIST_CHARACTERS} characters about its tools`);
      if (!this.#tools.has(tool.name)) this.#tools.set(tool.name, withoutSecrets(tool, this.#secrets));
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
