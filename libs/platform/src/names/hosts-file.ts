import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** The addresses of a name, as sockets want them. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

const SYSTEM_FILE = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';

/** How long the file is believed before it is read again, in milliseconds. */
const FRESH_MS = 5_000;

/** The system's table of host names, which comes before any name server. A missing file is an empty one. */
export class HostsFile {
  private names: Promise<ReadonlyMap<string, readonly ResolvedAddress[]>> | undefined;
  private readAtMs = 0;

  constructor(private readonly path: string = SYSTEM_FILE) {}

  /** The addresses of a lower-case name in the order of the file; none when it is not listed. */
  async addressesOf(name: string): Promise<readonly ResolvedAddress[]> {
    const now = performance.now();
    if (!this.names || now - this.readAtMs > FRESH_MS) {
      this.readAtMs = now;
      this.names = readFile(this.path, 'utf8').then(parseHosts, () => new Map());
    }
    return (await this.names).get(name) ?? [];
  }
}

/** Reads the lines of a hosts file: an address, then its names; `#` begins a comment. */
export function parseHosts(text: string): ReadonlyMap<string, readonly ResolvedAddress[]> {
  const names = new Map<string, ResolvedAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...hosts] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family !== 4 && family !== 6) continue;
    for (const host of hosts) {
      const known = names.get(host.toLowerCase()) ?? [];
      names.set(host.toLowerCase(), [...known, { address, family }]);
    }
  }
  return names;
}
