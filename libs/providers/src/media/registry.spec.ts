import { MediaProviderRegistry } from './registry.js';
import { SandboxConfig } from './sandbox/sandbox.config.js';
import { SandboxProvider } from './sandbox/sandbox.provider.js';

describe('MediaProviderRegistry', () => {
  const sandbox = new SandboxProvider(new SandboxConfig());
  const registry = new MediaProviderRegistry([sandbox]);
  const kite = Object.assign(new SandboxProvider(new SandboxConfig()), { id: 'kite' });

  it('sends every model to the first vendor unless it is routed elsewhere', () => {
    expect(registry.providerOf('beta-2.5-preview')).toBe(sandbox);
    expect(registry.providerOf('constructor')).toBe(sandbox);
  });

  it('takes a second vendor by a line in the list and a route', () => {
    const both = new MediaProviderRegistry([sandbox, kite], { 'beta-2.5-preview': 'kite' });
    expect(both.providerOf('beta-2.5-preview')).toBe(kite);
    expect(both.providerOf('gamma')).toBe(sandbox);
    expect(both.all).toEqual([sandbox, kite]);
    expect(both.providerById('kite')).toBe(kite);
  });

  it('finds the vendor of a running operation by its id', () => {
    expect(registry.providerById('sandbox')).toBe(sandbox);
  });

  it('refuses an id that this build does not know, naming those it knows', () => {
    expect(() => registry.providerById('kite')).toThrow('"kite" is no media provider: sandbox');
    expect(() => new MediaProviderRegistry([sandbox], { 'beta-2.5-preview': 'kite' })).toThrow(RangeError);
    expect(() => new MediaProviderRegistry([sandbox, sandbox])).toThrow(RangeError);
  });
});
