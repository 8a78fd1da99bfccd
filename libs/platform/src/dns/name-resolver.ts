import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { FairSlots, NoSlot } from '../batching/slots.js';
import { lruCache } from '../lru-cache.js';

/** Settings of a {@link NameResolver}; times in milliseconds. Defaults are in `DEFAULTS`. */
export interface NameResolverOptions {
  /** Name servers as `address` or `address:port`; absent: those of the system. */
  readonly servers?: readonly string[] | undefined;
  readonly hostsFile?: string;
  /** The longest time for one question to one server; the second try gets twice as long. */
  readonly tryMs?: number;
  /** The longest time for one name, all tries included. */
  readonly limitMs?: number;
  /** How long one family of addresses is waited for when the other is known: there are servers that never answer for IPv6. */
  readonly otherFamilyMs?: number;
  /** The most names of one share that are asked for at once. */
  readonly mostPerShare?: number;
  /** The most names that are asked for at once. */
  readonly most?: number;
}

const DEFAULTS = { tryMs: 1_000, limitMs: 2_500, otherFamilyMs: 250, mostPerShare: 16, most: 256 } as const;
const TRIES = 2;
/** How many names of one share may wait for their turn, and for how long. */
const WAITING_PER_SHARE = 256;
const WAIT_MS = 2_500;
/** How long an answer is believed, in milliseconds, whatever its time to live says. */
const KNOWN_MS = { least: 1_000, most: 60_000 } as const;
const UNKNOWN_MS = 5_000;
const SILENT_MS = 2_000;
const KNOWN_NAMES = 10_000;

const LOOPBACK: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

type Answer = { readonly addresses: readonly ResolvedAddress[] } | { readonly error: Error };
interface Found {
  readonly addresses: readonly ResolvedAddress[];
  readonly ttlSeconds: number;
}

/**
 * Finds the addresses of hosts that users and vendors name. Unlike the system's own lookup (`getaddrinfo`) it holds no
 * thread while a name server is silent, ends in time, and gives every account a share, so that names of one account never
 * delay those of another, or of our own stores and upstreams.
 *
 * `localhost` and the hosts file come first. Names are asked for as written: search domains and the sources of
 * nsswitch.conf other than files and DNS do not apply. All addresses are given, IPv4 first.
 */
export class NameResolver {
  private readonly hosts: HostsFile;
  private readonly known = lruCache<string, Answer>(KNOWN_NAMES);
  private readonly asked = new Map<string, Promise<Answer>>();
  private readonly slots: FairSlots;

  constructor(private readonly options: NameResolverOptions = {}) {
    this.hosts = new HostsFile(options.hostsFile);
    this.slots = new FairSlots({
      most: options.most ?? DEFAULTS.most,
      mostPerShare: options.mostPerShare ?? DEFAULTS.mostPerShare,
      mostWaitingPerShare: WAITING_PER_SHARE,
      waitMs: WAIT_MS,
    });
  }

  /**
   * Every address of a host, at least one. `share`: the account that wants to know.
   *
   * @throws Error with the code `ENOTFOUND` (there is no such name) or `ETIMEDOUT` (not known in time).
   */
  async resolve(host: string, share: string): Promise<readonly ResolvedAddress[]> {
    const name = host.toLowerCase().replace(/\.$/, '');
    const listed = await this.hosts.addressesOf(name);
    if (listed.length > 0) return listed;
    if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK;
    const answer = this.known.get(name) ?? (await this.ask(name, share));
    if ('error' in answer) throw answer.error;
    return answer.addresses;
  }

  /** Looks again when its turn has come: another may have asked for the same name meanwhile. */
  private async ask(name: string, share: string): Promise<Answer> {
    try {
      return await this.slots.run(share, async () => this.known.get(name) ?? (await this.askTogether(name)));
    } catch (error) {
      if (!(error instanceof NoSlot)) throw error;
      return { error: failure('ETIMEDOUT', name, error) };
    }
  }

  private askTogether(name: string): Promise<Answer> {
    const asked = this.asked.get(name);
    if (asked) return asked;
    const asking = this.askServers(name).finally(() => this.asked.delete(name));
    this.asked.set(name, asking);
    return asking;
  }

  private async askServers(name: string): Promise<Answer> {
    try {
      const { addresses, ttlSeconds } = await this.bothFamilies(name);
      const ttl = Math.min(Math.max(ttlSeconds * 1000, KNOWN_MS.least), KNOWN_MS.most);
      return this.remember(name, { addresses }, ttl);
    } catch (error) {
      const code = isMissing(error) ? 'ENOTFOUND' : 'ETIMEDOUT';
      return this.remember(name, { error: failure(code, name, error) }, isMissing(error) ? UNKNOWN_MS : SILENT_MS);
    }
  }

  private remember(name: string, answer: Answer, ttl: number): Answer {
    this.known.set(name, answer, { ttl });
    return answer;
  }

  /** A resolver of its own for each name: it can be cancelled alone, and its questions leave from a port of their own. */
  private async bothFamilies(name: string): Promise<Found> {
    const { servers } = this.options;
    const { tryMs, limitMs, otherFamilyMs } = { ...DEFAULTS, ...this.options };
    const resolver = new Resolver({ timeout: tryMs, tries: TRIES });
    if (servers) resolver.setServers(servers);
    const limits = [setTimeout(() => resolver.cancel(), limitMs)];
    const soon = (found: Found): Found => {
      limits.push(setTimeout(() => resolver.cancel(), otherFamilyMs));
      return found;
    };
    try {
      const [four, six] = await Promise.allSettled([
        resolver.resolve4(name, { ttl: true }).then((records) => soon(toFound(records, 4))),
        resolver.resolve6(name, { ttl: true }).then((records) => soon(toFound(records, 6))),
      ]);
      return together(four, six);
    } finally {
      for (const limit of limits) clearTimeout(limit);
    }
  }
}

function toFound(records: readonly { readonly address: string; readonly ttl: number }[], family: 4 | 6): Found {
  return {
    addresses: records.map(({ address }) => ({ address, family })),
    ttlSeconds: Math.min(...records.map(({ ttl }) => ttl)),
  };
}

/** One family is enough. When both failed, a server that did not answer weighs more than one that knows no such name. */
function together(...answers: readonly PromiseSettledResult<Found>[]): Found {
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const addresses = found.flatMap((family) => family.addresses);
  if (addresses.length > 0) {
    return { addresses, ttlSeconds: Math.min(...found.map(({ ttlSeconds }) => ttlSeconds)) };
  }
  const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
  throw reasons.find((reason) => !isMissing(reason)) ?? reasons[0] ?? failure('ENOTFOUND', 'it', undefined);
}

const MISSING = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ENONAME']);
const isMissing = (error: unknown): boolean => MISSING.has(String((error as NodeJS.ErrnoException)?.code));

const failure = (code: 'ENOTFOUND' | 'ETIMEDOUT', name: string, cause: unknown): Error =>
  Object.assign(new Error(`${code} ${name}`, { cause }), { code });

/** The addresses of a name, as sockets want them. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

const SYSTEM_FILE = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';

/** How long the file is believed before it is read again, in milliseconds. */
const FRESH_MS = 5_000;

/** The system's table of host names, which comes before any name server. A missing file is an empty one. */
class HostsFile {
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
function parseHosts(text: string): ReadonlyMap<string, readonly ResolvedAddress[]> {
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
