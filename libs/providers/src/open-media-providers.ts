import { loadConfig } from '#platform';
import { observedProvider } from './observed-provider.js';
import { MediaProviderRegistry } from './registry.js';
import { SandboxConfig } from './sandbox/sandbox.config.js';
import { SandboxProvider } from './sandbox/sandbox.provider.js';

/** The media vendors of this process. */
export interface OpenMediaProviders {
  readonly registry: MediaProviderRegistry;
  close(): Promise<void>;
}

/** @throws ConfigError with one line for each wrong variable. */
export function openMediaProviders(config: SandboxConfig = loadConfig(SandboxConfig)): OpenMediaProviders {
  const sandbox = new SandboxProvider(config);
  return { registry: new MediaProviderRegistry({ sandbox: observedProvider(sandbox) }), close: () => sandbox.close() };
}
