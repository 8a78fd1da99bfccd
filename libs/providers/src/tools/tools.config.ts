import { IsIn, IsNotEmpty, IsOptional, Matches } from 'class-validator';
import { TOOL_ROUNDS_MAX } from '#contracts';
import { ConfigError, loadConfig, Variable } from '#platform';
import { IsUpstreamAddress } from '../routed-entry.js';
import { type OpenWebSearch, openWebSearch } from './web-search/engines.js';
import { WEB_SEARCH_ENGINES, type WebSearchEngineName } from './web-search/web-search.js';

/** Which side runs a tool that both the upstream and the gateway could run. */
const RUN_BY = ['upstream', 'gateway'] as const;

/** Tools that the gateway runs itself: file search, search of the web, and servers of tools (MCP). */
export class ToolsConfig {
  @Variable({
    description:
      'Who runs `file_search`, `web_search` and `mcp` when both could: `upstream`, if it speaks the style of the request and its `allow.tools` lists the tool, or `gateway`. If the upstream may not, the gateway does.',
    formerly: 'TOOLS_RUN_BY',
  })
  @IsIn(RUN_BY)
  HOSTED_TOOLS_EXECUTOR: (typeof RUN_BY)[number] = 'upstream';

  @Variable({
    description: 'How often the model may be called for one request whose tools the gateway runs.',
    unit: 'rounds',
    between: [1, TOOL_ROUNDS_MAX],
  })
  TOOLS_MAX_ROUNDS = 10;

  @Variable({
    description: 'How many such tool calls may run for one request; `max_tool_calls` of a request may lower it.',
    unit: 'calls',
    between: [1, 1_000],
  })
  TOOLS_MAX_CALLS = 32;

  @Variable({
    description: 'How long all such tool calls of one request may take together.',
    unit: 'seconds',
    between: [1, 3_600],
  })
  TOOLS_SECONDS = 180;

  @Variable({
    description: 'How many tokens one request with such tools may use in all of its rounds, input plus output.',
    unit: 'tokens',
    between: [1_000, 100_000_000],
  })
  TOOLS_MAX_TOKENS = 1_000_000;

  @Variable({
    description: 'How many such tool calls may run at once for one account in one process; more of them wait.',
    unit: 'calls',
    between: [1, 1_000],
  })
  TOOLS_AT_ONCE_PER_ACCOUNT = 8;

  @Variable({
    description:
      'The search engine behind `web_search`: `searxng` (your own, at `WEB_SEARCH_URL`), `brave` or `tavily` (with `WEB_SEARCH_KEY`). When unset, `web_search` works only where an upstream runs it, and with the sandbox.',
    example: 'searxng',
  })
  @IsOptional()
  @IsIn(WEB_SEARCH_ENGINES)
  WEB_SEARCH_ENGINE?: WebSearchEngineName;

  @Variable({
    description: 'Address of the search engine. When unset: the public address of Brave or Tavily.',
    example: 'http://searxng:8080',
  })
  @IsOptional()
  @IsNotEmpty()
  @IsUpstreamAddress()
  WEB_SEARCH_URL?: string;

  @Variable({ description: 'API key of Brave or Tavily. It is sent in a header, never in the URL.', secret: true })
  @IsOptional()
  @Matches(/^[\x21-\x7e]{1,1024}$/, {
    message: '$property must be 1 to 1024 printable ASCII characters without spaces',
  })
  WEB_SEARCH_KEY?: string;
}

/** How much of the tools that the gateway runs one request, and one account, may have. Times in milliseconds. */
interface ToolLimits {
  readonly rounds: number;
  readonly calls: number;
  readonly workMs: number;
  /** Input and output of all rounds. */
  readonly tokens: number;
  readonly atOncePerAccount: number;
}

export interface OpenTools {
  readonly limits: ToolLimits;
  /** True: an upstream that may run a tool itself does. */
  readonly prefersUpstream: boolean;
  /** Undefined when the operator set no engine. */
  readonly webSearch: OpenWebSearch | undefined;
}

/** @throws ConfigError when the engine lacks its address or its key. */
export function openTools(config: ToolsConfig = loadConfig(ToolsConfig)): OpenTools {
  return {
    limits: {
      rounds: config.TOOLS_MAX_ROUNDS,
      calls: config.TOOLS_MAX_CALLS,
      workMs: config.TOOLS_SECONDS * 1000,
      tokens: config.TOOLS_MAX_TOKENS,
      atOncePerAccount: config.TOOLS_AT_ONCE_PER_ACCOUNT,
    },
    prefersUpstream: config.HOSTED_TOOLS_EXECUTOR === 'upstream',
    webSearch: engineOf(config),
  };
}

function engineOf({ WEB_SEARCH_ENGINE: engine, WEB_SEARCH_URL: url, WEB_SEARCH_KEY: key }: ToolsConfig) {
  const settingWithoutEngine = key !== undefined ? 'WEB_SEARCH_KEY' : url !== undefined ? 'WEB_SEARCH_URL' : undefined;
  if (engine === undefined && settingWithoutEngine !== undefined)
    throw new ConfigError([
      `${settingWithoutEngine} is set, so WEB_SEARCH_ENGINE must name the engine: ${WEB_SEARCH_ENGINES.join(', ')}`,
    ]);
  if (engine === undefined) return undefined;
  if (engine === 'searxng' && url === undefined)
    throw new ConfigError(['WEB_SEARCH_ENGINE is searxng, so WEB_SEARCH_URL must be set to its address']);
  if (engine !== 'searxng' && key === undefined)
    throw new ConfigError([`WEB_SEARCH_ENGINE is ${engine}, so WEB_SEARCH_KEY must be set`]);
  return openWebSearch({ engine, url, key });
}
