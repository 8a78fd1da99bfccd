import { readFile } from 'node:fs/promises';

const SYSTEM_FILE = '/etc/resolv.conf';

/** How long the file is believed before it is read again, in milliseconds. */
const FRESH_MS = 5_000;

/** What the system makes of short names. */
export interface SearchRules {
  /** Domains that a short name may stand in, in their order. */
  readonly domains: readonly string[];
  /** A name of so many dots is asked for as it is first. */
  readonly dots: number;
}

/** The system's rules for short names, as Kubernetes and companies use them. A missing file has none. */
export class SearchList {
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
