import type { MediaProvider } from '#contracts';
import { loadConfig } from '#platform';
import { observedProvider } from './observed-provider.js';
import { MediaProviderRegistry, type MediaRoutes } from './registry.js';
import { SandboxConfig } from './sandbox/sandbox.config.js';
import { SandboxProvider } from './sandbox/sandbox.provider.js';

/** The media vendors of this process. */
export interface OpenMediaProviders {
  readonly registry: MediaProviderRegistry;
  close(): Promise<void>;
}

/** A vendor and what it holds open. */
type MediaVendor = MediaProvider & { close(): Promise<void> };

/** Who makes which model; the first vendor of the list below makes all others. */
const ROUTES: MediaRoutes = {};

/** @throws ConfigError with one line for each wrong variable. */
export function openMediaProviders(config: SandboxConfig = loadConfig(SandboxConfig)): OpenMediaProviders {
  const [first, ...others]: readonly [MediaVendor, ...MediaVendor[]] = [
    // A new vendor is its folder and a line here: docs/add-a-vendor.md.
    new SandboxProvider(config),
  ];
  return {
    registry: new MediaProviderRegistry([observedProvider(first), ...others.map(observedProvider)], ROUTES),
    close: async () => {
      await Promise.all([first, ...others].map((vendor) => vendor.close()));
    },
  };
}
