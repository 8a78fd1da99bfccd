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

/** An upstream with its connections. */
export interface OpenTextProvider extends ConfiguredTextProvider {
  /** Closes the connections when the work on them is done. To be called when nobody asks it any more. */
  retire(): Promise<void>;
  /** Closes the connections now. */
  close(): Promise<void>;
}

/** What this process knows of text upstreams before it looks into the database. */
export interface OpenTextProviders {
  /** The entries of UPSTREAMS_FILE; undefined when it is unset. */
  readonly fromFile: readonly UpstreamEntry[] | undefined;
  /** The built-in writer, for every model. */
  readonly sandbox: ConfiguredTextProvider;
  /** How long a request may look for an upstream that works, in milliseconds. */
  readonly retryBudgetMs: number;
  /** Opens an upstream; it connects when it is first asked. */
  open(entry: UpstreamEntry): OpenTextProvider;
}

/**
 * Reads UPSTREAMS_FILE, if there is one.
 *
 * @throws ConfigError with one line for each mistake.
 */
export function openTextProviders(
  config: TextConfig = loadConfig(TextConfig),
  environment?: Environment,
): OpenTextProviders {
  const { UPSTREAMS_FILE: file } = config;
  const wordDelayMs = config.SANDBOX_WORD_MS;
  return {
    fromFile: file === undefined ? undefined : readUpstreamsFile(readText(file), file, environment),
    sandbox: { provider: new SandboxTextProvider(wordDelayMs), models: undefined, weight: 1, priority: 0 },
    retryBudgetMs: config.TEXT_RETRY_SECONDS * 1000,
    open: (entry) => openEntry(entry, wordDelayMs),
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`UPSTREAMS_FILE names "${file}", which cannot be read (${(error as Error).message})`]);
  }
}

function openEntry(entry: UpstreamEntry, wordDelayMs: number): OpenTextProvider {
  const { id, protocol, weight, priority, timeouts } = entry;
  const place = { models: new Map(Object.entries(entry.models)), weight, priority };
  if (protocol === 'sandbox') {
    const nothing = (): Promise<void> => Promise.resolve();
    return { provider: new SandboxTextProvider(wordDelayMs, id), ...place, retire: nothing, close: nothing };
  }
  const http = new UpstreamHttp(entry.base_url, {
    connectMs: timeouts.connect_seconds * 1000,
    firstByteMs: timeouts.first_byte_seconds * 1000,
    idleMs: timeouts.idle_seconds * 1000,
  });
  const options = { outputLimitField: entry.output_limit_field };
  return {
    provider: new HttpTextProvider({ id, codec: PROTOCOL_CODECS[protocol], http, key: entry.key, options }),
    ...place,
    retire: () => http.retire(),
    close: () => http.close(),
  };
}
