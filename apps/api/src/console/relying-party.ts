import { isIP } from 'node:net';
import type { RelyingParty } from '#features';
import { type ProcessConfig, publicBaseUrl } from '#runtime';

/**
 * What passkeys hold for: the name in PUBLIC_BASE_URL. Browsers make none for an address of numbers, so that a gateway on
 * this machine has them under `localhost`; nor for plain HTTP to other machines, so that there is none then.
 */
export function relyingParty(config: ProcessConfig): RelyingParty | null {
  const url = new URL(publicBaseUrl(config));
  const isLocal = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(url.hostname);
  if (isLocal) return { id: 'localhost', origin: `${url.protocol}//localhost${url.port === '' ? '' : `:${url.port}`}` };
  const isName = isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0;
  return isName && url.protocol === 'https:' ? { id: url.hostname, origin: url.origin } : null;
}

/** Whether a page that was opened under a host can use the passkeys of the party; a proxy may change the host of others. */
export const isPageOf = ({ id }: RelyingParty, hostname: string): boolean => id !== 'localhost' || hostname === id;
