import { type GeminiRequest, type GeminiTool, isJsonObject, isParsableUrl, type JsonObject } from '#contracts';
import {
  type HostedStyle,
  labelOf,
  PASSAGES,
  readWebSearch,
  requestedServer,
  type RequestedTool,
  storesIn,
  textsIn,
  wholeIn,
  wrong,
} from './requested-tools.js';
import { withOwnLabels } from './responses-hosted.js';

const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? (value as JsonObject) : {});

/** `{fileSearch: {fileSearchStoreNames, topK}}`; without names it searches all files of the account. */
function readFileSearch(sent: JsonObject, param: string): RequestedTool {
  if (sent['metadataFilter'] != null)
    throw wrong(`${param}.metadataFilter`, 'left out: files are filtered by `filters` of a file_search tool');
  const storesParam = `${param}.fileSearchStoreNames`;
  return {
    kind: 'file_search',
    params: [param],
    stores: storesIn(sent['fileSearchStoreNames'], storesParam, (name) => name.replace(/^fileSearchStores\//, '')),
    storesParam,
    limit: wholeIn(sent['topK'], `${param}.topK`, 50) ?? PASSAGES,
    filters: undefined,
    scoreThreshold: undefined,
    weights: undefined,
  };
}

/** `{mcpServers: [{name, streamableHttpTransport: {url, headers, timeout: "30s"}}]}` */
function readServers(sent: unknown, param: string): RequestedTool[] {
  const servers: readonly unknown[] = Array.isArray(sent) ? sent : [];
  return servers.map((server, index) => {
    const place = `${param}[${index}]`;
    const { name, streamableHttpTransport: transport } = objectOf(server);
    const { url, headers, timeout } = objectOf(transport);
    if (typeof url !== 'string' || !isParsableUrl(url))
      throw wrong(`${place}.streamableHttpTransport.url`, 'an http or https URL');
    const label = typeof name === 'string' && name !== '' ? name.slice(0, 64) : labelOf(url);
    const seconds = typeof timeout === 'string' ? Math.ceil(Number(timeout.replace(/s$/, ''))) : timeout;
    return requestedServer({ params: [place, param], label, url }, `${place}.streamableHttpTransport`, {
      timeout: seconds,
      headers,
    });
  });
}

function requestedToolsOf(tool: GeminiTool, place: string): RequestedTool[] {
  return Object.entries(tool).flatMap(([name, value]): RequestedTool[] => {
    if (value == null) return [];
    const param = `${place}.${name}`;
    switch (name) {
      case 'googleSearch':
      case 'googleSearchRetrieval':
        return [{ ...readWebSearch({}, param), blockedDomains: textsIn(objectOf(value)['excludeDomains'], param) }];
      case 'fileSearch':
        return [readFileSearch(objectOf(value), param)];
      case 'mcpServers':
        return readServers(value, param);
      default:
        return [];
    }
  });
}

function withoutRequested(tool: GeminiTool, place: string, taken: ReadonlySet<string>): GeminiTool[] {
  const left = Object.entries(tool).filter(([name, value]) => value != null && !taken.has(`${place}.${name}`));
  return left.length > 0 ? [Object.fromEntries(left)] : [];
}

/** The gemini style: `googleSearch`, `fileSearch` and `mcpServers`. */
export const geminiHosted: HostedStyle<GeminiRequest> = {
  find: ({ tools }) => withOwnLabels((tools ?? []).flatMap((tool, index) => requestedToolsOf(tool, `tools[${index}]`))),
  without: (body, requestedTools) => {
    const taken = new Set(requestedTools.flatMap(({ params }) => params));
    const { tools: sent = [], ...rest } = body;
    const tools = sent.flatMap((tool, index) => withoutRequested(tool, `tools[${index}]`, taken));
    return { body: tools.length > 0 ? { ...rest, tools } : rest, forced: [], only: undefined };
  },
  maxCalls: () => undefined,
  showsResults: () => [],
  approvals: () => [],
};
