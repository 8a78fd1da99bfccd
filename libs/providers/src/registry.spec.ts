import { MediaProviderRegistry } from './registry.js';
import { SandboxConfig } from './sandbox/sandbox.config.js';
import { SandboxProvider } from './sandbox/sandbox.provider.js';

describe('MediaProviderRegistry', () => {
  const sandbox = new SandboxProvider(new SandboxConfig());
  const registry = new MediaProviderRegistry({ sandbox });

  it('sends every model to the sandbox unless it is routed elsewhere', () => {
    expect(registry.providerOf('beta-2.5-preview')).toBe(sandbox);
    expect(registry.providerOf('constructor')).toBe(sandbox);
  });

  it('finds the vendor of a running operation by its id', () => {
    expect(registry.providerById('sandbox')).toBe(sandbox);
  });

  it('refuses an id that this build does not know, naming those it knows', () => {
    expect(() => registry.providerById('kite')).toThrow('"kite" is no media provider: sandbox');
  });
});
