import { readFileSync } from 'node:fs';
import type { TextProvider } from '#contracts';
import { ConfigError, loadConfig, type Environment } from '#platform';
import { readUpstreamsFile } from './read-upstreams-file.js';
import { SandboxTextProvider } from './sandbox/sandbox-text.provider.js';
import { TextConfig } from './text.config.js';
import type { UpstreamEntry } from './upstream-entry.js';
import { HttpTextProvider } from './upstream/http-text-provider.js';
import { PROTOCOL_CODECS } from './upstream/protocol-codecs.js';
import { UpstreamHttp } from './upstream/upstream-http.js';

/** A provider with its place in the routing. */
export interface ConfiguredTextProvider {
  readonly provider: TextProvider;
  /** Public model name to the upstream's own; undefined when it serves every model under its public name. */
  readonly models: ReadonlyMap<string, string> | undefined;
  readonly weight: number;
  readonly priority: number;
}

/** The text upstreams of this process. */
export interface OpenTextProviders {
  readonly providers: readonly ConfiguredTextProvider[];
  /** How long a request may look for an upstream that works, in milliseconds. */
  readonly retryBudgetMs: number;
  /** Closes the connections. */
  close(): Promise<void>;
}

/**
 * Opens the upstreams that UPSTREAMS_FILE lists, or the sandbox for every model when it is unset.
 *
 * @throws ConfigError with one line for each mistake.
 */
export function openTextProviders(
  config: TextConfig = loadConfig(TextConfig),
  environment?: Environment,
): OpenTextProviders {
  const retryBudgetMs = config.TEXT_RETRY_SECONDS * 1000;
  const sandbox = new SandboxTextProvider(config.SANDBOX_WORD_MS);
  if (config.UPSTREAMS_FILE === undefined)
    return {
      providers: [{ provider: sandbox, models: undefined, weight: 1, priority: 0 }],
      retryBudgetMs,
      close: () => Promise.resolve(),
    };
  const entries = readUpstreamsFile(readText(config.UPSTREAMS_FILE), config.UPSTREAMS_FILE, environment);
  const opened = entries.map((entry) => openEntry(entry, sandbox));
  return {
    providers: opened.map(({ configured }) => configured),
    retryBudgetMs,
    close: async () => {
      await Promise.all(opened.flatMap(({ http }) => (http ? [http.close()] : [])));
    },
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`UPSTREAMS_FILE names "${file}", which cannot be read (${(error as Error).message})`]);
  }
}

function openEntry(
  entry: UpstreamEntry,
  sandbox: TextProvider,
): { configured: ConfiguredTextProvider; http: UpstreamHttp | undefined } {
  const { id, protocol, weight, priority, timeouts } = entry;
  const place = { models: new Map(Object.entries(entry.models)), weight, priority };
  if (protocol === 'sandbox') return { configured: { provider: sandbox, ...place }, http: undefined };
  const http = new UpstreamHttp(entry.base_url, {
    connectMs: timeouts.connect_seconds * 1000,
    firstByteMs: timeouts.first_byte_seconds * 1000,
    idleMs: timeouts.idle_seconds * 1000,
  });
  const codec = PROTOCOL_CODECS[protocol];
  const options = { outputLimitField: entry.output_limit_field };
  return {
    configured: { provider: new HttpTextProvider({ id, codec, http, key: entry.key, options }), ...place },
    http,
  };
}
