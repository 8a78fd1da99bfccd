export * from './registry.js';
export { SandboxConfig } from './sandbox/sandbox.config.js';
export { SandboxProvider } from './sandbox/sandbox.provider.js';
export * from './open-media-providers.js';
