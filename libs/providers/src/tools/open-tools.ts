import { ConfigError, loadConfig } from '#platform';
import { type OpenWebSearch, openWebSearch } from './web-search/engines.js';
import { WEB_SEARCH_ENGINES } from './web-search/web-search.js';
import { ToolsConfig } from './tools.config.js';

/** How much of the tools that the gateway runs one request, and one account, may have. Times in milliseconds. */
export interface ToolLimits {
  readonly rounds: number;
  readonly calls: number;
  readonly workMs: number;
  /** Input and output of all rounds. */
  readonly tokens: number;
  readonly atOncePerAccount: number;
}

/** What this process can run itself. */
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
    prefersUpstream: config.TOOLS_RUN_BY === 'upstream',
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
