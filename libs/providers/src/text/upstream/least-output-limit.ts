import type { TextProtocol } from '#contracts';

/** The lowest output limit that a protocol takes, in tokens. A lower one of the caller's is sent as this. */
export const leastOutputLimit = (protocol: TextProtocol): number => (protocol === 'responses' ? 16 : 1);
