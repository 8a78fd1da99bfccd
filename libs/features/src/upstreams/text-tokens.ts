/** Injects the OpenTextProviders. */
export const OPEN_PROVIDERS = Symbol('OpenTextProviders');
