import { isIP } from 'node:net';
import { withoutBrackets } from './checked-connector.js';

/** Names that lead into a network of one's own wherever they are resolved (RFC 6762, appendix G; `svc` of Kubernetes), and names without a dot. */
const LOCAL_NAME =
  /(^|\.)(localhost|local|localdomain|internal|intranet|private|lan|home|corp|svc|home\.arpa)$|^[^.]*$/;

/** Whether the host of an address is such a name. */
export function isLocalName(url: URL): boolean {
  const host = hostNameOf(url);
  return isIP(host) === 0 && LOCAL_NAME.test(host);
}

/** The host without brackets, and without the dot that ends a whole name. */
export const hostNameOf = ({ hostname }: URL): string => withoutBrackets(hostname).toLowerCase().replace(/\.$/, '');
