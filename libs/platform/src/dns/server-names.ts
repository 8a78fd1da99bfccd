import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP, type LookupFunction, Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { FairSlots } from '../batching/slots.js';
import { within } from '../clock/time-limit.js';
import { NameResolver, type NameResolverOptions, type ResolvedAddress } from './name-resolver.js';

const SYSTEM_FILE = '/etc/resolv.conf';

/** How long the file is believed before it is read again, in milliseconds. */
const FRESH_MS = 5_000;

/** What the system makes of short names. */
interface SearchRules {
  /** Domains that a short name may be in, in their order. */
  readonly domains: readonly string[];
  /** A name of so many dots is looked up as it is first. */
  readonly dots: number;
}

/** The system's rules for short names, as Kubernetes and companies use them. A missing file has none. */
class SearchList {
  private rules: Promise<SearchRules> | undefined;
  private readAtMs = 0;

  constructor(private readonly path: string = SYSTEM_FILE) {}

  /** The full names that a name may stand for, in the order in which they are asked for. */
  async namesFor(name: string): Promise<readonly string[]> {
    if (name.endsWith('.')) return [name];
    const now = performance.now();
    if (!this.rules || now - this.readAtMs > FRESH_MS) {
      this.readAtMs = now;
      this.rules = readFile(this.path, 'utf8').then(parseSearchRules, () => parseSearchRules(''));
    }
    const { domains, dots } = await this.rules;
    const longer = domains.map((domain) => `${name}.${domain}`);
    return name.split('.').length > dots ? [name, ...longer] : [...longer, name];
  }
}

/** Reads the lines `search`, `domain` and `options ndots:n` of a resolver's configuration; the last one of each counts. */
export function parseSearchRules(text: string): SearchRules {
  let domains: readonly string[] = [];
  let dots = 1;
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'search' || keyword === 'domain') domains = values.map((domain) => domain.replace(/\.$/, ''));
    if (keyword === 'options') dots = Number(values.find((value) => /^ndots:\d+$/.test(value))?.slice(6) ?? dots);
  }
  return { domains: domains.filter((domain) => domain !== ''), dots };
}

/** Settings of {@link ServerNames}; times in milliseconds. */
export interface ServerNamesOptions extends NameResolverOptions {
  /** The system's rules for short names, as the path of their file. */
  readonly searchFile?: string;
}

/** Less than any connection may take, so that a name that is known from before is used in time. */
const LIMITS = { tryMs: 400, limitMs: 1_000 } as const;
const SYSTEM_LIMIT_MS = 2_000;
const KNOWN_NAMES = 1_000;

/**
 * Finds the addresses of our own servers (Postgres, Redis, the store, upstreams) for the code that opens a connection.
 *
 * The system's own lookup holds a thread for as long as a name server is silent, and there are two such threads for all
 * names: two vendors whose names cannot be found would keep the database from being found. So names are asked for
 * without threads, each within a second, and when their server is silent the addresses of before are used again. The
 * hosts file and search domains count as they do for the system. What else the system may know, such as names of the
 * local network, is asked of it last and one name at a time.
 */
export class ServerNames {
  private readonly resolver: NameResolver;
  private readonly search: SearchList;
  private readonly last = new LRUCache<string, readonly ResolvedAddress[]>({ max: KNOWN_NAMES });
  private readonly system = new FairSlots({
    most: 1,
    mostPerShare: 1,
    mostWaitingPerShare: 16,
    waitMs: SYSTEM_LIMIT_MS,
  });

  constructor(options: ServerNamesOptions = {}) {
    this.resolver = new NameResolver({ ...LIMITS, ...options });
    this.search = new SearchList(options.searchFile);
  }

  /** For the option `lookup` of sockets, agents and pools. */
  readonly lookup: LookupFunction = (host, options, done) => void this.resolve(host, options, done);

  /** @throws Error with the code `ENOTFOUND` or `ETIMEDOUT`. */
  async addressesOf(host: string): Promise<readonly ResolvedAddress[]> {
    const family = isIP(host);
    if (family === 4 || family === 6) return [{ address: host, family }];
    try {
      const addresses = await this.ask(host);
      this.last.set(host, addresses);
      return addresses;
    } catch (error) {
      const known = isMissing(error) ? undefined : this.last.get(host);
      return known ?? this.askSystem(host, error);
    }
  }

  private async resolve(host: string, options: LookupOptions, done: Done): Promise<void> {
    let addresses: readonly ResolvedAddress[];
    try {
      addresses = await this.addressesOf(host);
    } catch (error) {
      return done(error as NodeJS.ErrnoException, '', 0);
    }
    answer(host, addresses, options, done);
  }

  /** Of all that a short name may stand for, the first there is. A silent server is not asked for the others. */
  private async ask(host: string): Promise<readonly ResolvedAddress[]> {
    let missing: unknown;
    for (const name of await this.search.namesFor(host)) {
      try {
        return await this.resolver.resolve(name, host);
      } catch (error) {
        if (!isMissing(error)) throw error;
        missing = error;
      }
    }
    throw missing;
  }

  /** Its thread may be held for longer than a caller waits, but never by more than one name. */
  private async askSystem(host: string, reason: unknown): Promise<readonly ResolvedAddress[]> {
    try {
      const found = this.system.run('system', () => systemLookup(host, { all: true }));
      return (await within(found, SYSTEM_LIMIT_MS)).map(fromSystem);
    } catch {
      throw reason;
    }
  }
}

const fromSystem = ({ address, family }: LookupAddress): ResolvedAddress => ({ address, family: family === 6 ? 6 : 4 });

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException | undefined)?.code === 'ENOTFOUND';

type Done = Parameters<LookupFunction>[2];

function answer(host: string, addresses: readonly ResolvedAddress[], options: LookupOptions, done: Done): void {
  const { all, family = 0 } = options;
  const wanted = typeof family === 'string' ? Number(family.slice(-1)) : family;
  const fitting = addresses.filter((address) => wanted === 0 || address.family === wanted);
  const [first] = fitting;
  if (!first) done(Object.assign(new Error(`ENOTFOUND ${host}`), { code: 'ENOTFOUND' }), '', 0);
  else if (all) done(null, [...fitting]);
  else done(null, first.address, first.family);
}

export const serverNames = new ServerNames();

/** A socket that finds our own servers, for drivers that make the connection themselves. */
export class ServerSocket extends Socket {
  constructor(private readonly names: ServerNames = serverNames) {
    super();
  }

  /** As the driver of Postgres calls it: a port and a host, or the path of a socket of this machine. */
  override connect(...to: unknown[]): this {
    const [port, host] = to;
    if (typeof host !== 'string') return super.connect(...(to as Parameters<Socket['connect']>));
    return super.connect({ port: Number(port), host, lookup: this.names.lookup });
  }
}
