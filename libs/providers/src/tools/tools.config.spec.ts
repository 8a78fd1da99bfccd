import { loadConfig } from '#platform';
import { openTools, ToolsConfig } from './tools.config.js';

const opened = (environment: Record<string, string>) => openTools(loadConfig(ToolsConfig, environment));

describe('The settings of web search', () => {
  it.each([
    [
      { WEB_SEARCH_KEY: 'k' },
      'WEB_SEARCH_KEY is set, so WEB_SEARCH_ENGINE must name the engine: searxng, brave, tavily',
    ],
    [{ WEB_SEARCH_ENGINE: 'brave' }, 'WEB_SEARCH_ENGINE is brave, so WEB_SEARCH_KEY must be set'],
  ])('%j are refused at the start', (environment, problem) => {
    expect(() => opened(environment)).toThrow(problem);
  });
});
