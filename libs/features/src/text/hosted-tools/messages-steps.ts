import type { Citation, JsonObject, MessagesHostedBlock, ToolStep } from '#contracts';
import { parsedObject } from '#platform';

/** How much of a source a citation repeats, in characters. */
const LONGEST_QUOTE = 150;

/** A citation in the style's own form. Files are cited as results of a search, web pages as the vendor cites them. */
export function writeCitation({ index, source }: Citation): JsonObject {
  if (source.kind === 'page') {
    const { url, title, text } = source.page;
    const cited = text.slice(0, LONGEST_QUOTE);
    return {
      type: 'web_search_result_location',
      url,
      title,
      cited_text: cited,
      encrypted_index: sealed(String(index)),
    };
  }
  const { fileId, filename, text } = source.passage;
  return {
    type: 'search_result_location',
    source: fileId,
    title: filename,
    cited_text: text,
    search_result_index: index,
    start_block_index: 0,
    end_block_index: 1,
  };
}

const SEAL = 'gw:';

/** What clients only carry. It is no secret: it keeps them from reading meaning into it. */
const sealed = (text: string): string => SEAL + Buffer.from(text).toString('base64');

/** What stands in a seal of ours; undefined for one of a vendor's. */
export const unsealed = (seal: unknown): string | undefined =>
  typeof seal === 'string' && seal.startsWith(SEAL)
    ? Buffer.from(seal.slice(SEAL.length), 'base64').toString('utf8')
    : undefined;

const inputOf = (json: string): JsonObject => parsedObject(json) ?? {};

/** A step as two blocks: the call and its result. The list of a server's tools has no form here. */
export function stepBlocks(step: ToolStep): readonly MessagesHostedBlock[] {
  switch (step.type) {
    case 'file_search': {
      const id = `srvtoolu_${step.id}`;
      const content = step.passages.map(({ fileId, filename, text }): JsonObject => ({
        type: 'search_result',
        source: fileId,
        title: filename,
        content: [{ type: 'text', text }],
      }));
      const failed: JsonObject = { type: 'file_search_tool_result_error', error_code: 'unavailable' };
      return [
        { type: 'server_tool_use', id, name: 'file_search', input: { query: step.query } },
        { type: 'file_search_tool_result', tool_use_id: id, content: step.failure === undefined ? content : failed },
      ];
    }
    case 'web_search': {
      const id = `srvtoolu_${step.id}`;
      const content = step.pages.map(({ url, title, text, age }): JsonObject => ({
        type: 'web_search_result',
        url,
        title,
        encrypted_content: sealed(text),
        page_age: age ?? null,
      }));
      const failed: JsonObject = { type: 'web_search_tool_result_error', error_code: 'unavailable' };
      return [
        { type: 'server_tool_use', id, name: 'web_search', input: { query: step.query } },
        { type: 'web_search_tool_result', tool_use_id: id, content: step.failure === undefined ? content : failed },
      ];
    }
    case 'mcp_call': {
      const id = `mcptoolu_${step.id}`;
      const said = step.failure ?? step.output ?? '';
      return [
        { type: 'mcp_tool_use', id, name: step.name, server_name: step.server, input: inputOf(step.arguments) },
        {
          type: 'mcp_tool_result',
          tool_use_id: id,
          is_error: step.failure !== undefined,
          content: [{ type: 'text', text: said }],
        },
      ];
    }
    default:
      return [];
  }
}
