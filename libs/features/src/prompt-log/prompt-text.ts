/** The most that is kept of a request, and of an answer, in characters. */
export const TEXT_MAX = 256 * 1024;

/**
 * So much at the place where a text was cut off is not kept: what is to be redacted there might be cut in two, and not be
 * recognised.
 */
const CUT_MARGIN = 2_048;

/** Values that are no words: files, and what a vendor sealed. */
const UNKEPT = new Set([
  'data',
  'encrypted_content',
  'encrypted_index',
  'file_data',
  'fileData',
  'inlineData',
  'signature',
  'thoughtSignature',
]);

const INLINE_FILE = /^data:[\w.+-]{1,80}\/[\w.+-]{1,80}[;,]/u;

/** A text within the bound; what was cut off is told. */
const cut = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, Math.max(0, most - CUT_MARGIN));

export const keptAnswer = (answer: string): { readonly text: string; readonly isCut: boolean } => ({
  text: cut(answer, TEXT_MAX),
  isCut: answer.length > TEXT_MAX,
});

/** A request as it is kept: the JSON of its body without files, as far as the bound allows. */
export class KeptRequest {
  /** The texts in it, names of fields too, to be cleaned. */
  readonly texts: string[] = [];
  isCut = false;
  private left = TEXT_MAX;
  private readonly body: unknown;

  constructor(body: unknown) {
    this.body = this.copyOf(body);
  }

  /** What waits of it, in characters. */
  get size(): number {
    return TEXT_MAX - this.left;
  }

  /** @param cleaned as `texts`, in the same order. */
  json(cleaned: readonly string[]): string {
    let next = 0;
    const withCleaned = (value: unknown): unknown => {
      if (typeof value === 'string') return cleaned[next++];
      if (Array.isArray(value)) return value.map(withCleaned);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value).map(([, field]) => [cleaned[next++] ?? '', withCleaned(field)] as const),
      );
    };
    return JSON.stringify(withCleaned(this.body));
  }

  private copyOf(value: unknown, name = ''): unknown {
    if (typeof value === 'string') return this.take(isFile(name, value) ? `[${value.length} characters]` : value);
    if (Array.isArray(value)) {
      const kept: unknown[] = [];
      for (const entry of value) if (this.hasRoom()) kept.push(this.copyOf(entry, name));
      return kept;
    }
    if (typeof value !== 'object' || value === null) {
      this.left -= 8;
      return value;
    }
    const kept: Record<string, unknown> = {};
    for (const [field, inside] of Object.entries(value)) {
      if (!this.hasRoom()) break;
      this.take(field);
      kept[field] = this.copyOf(inside, field);
    }
    return kept;
  }

  private hasRoom(): boolean {
    if (this.left > 0) return true;
    this.isCut = true;
    return false;
  }

  private take(text: string): string {
    const kept = cut(text, Math.max(0, this.left));
    if (kept.length < text.length) {
      this.isCut = true;
      this.left = 0;
    } else this.left -= text.length + 4;
    this.texts.push(kept);
    return kept;
  }
}

const isFile = (name: string, value: string): boolean =>
  (UNKEPT.has(name) && value.length > 256) || INLINE_FILE.test(value.slice(0, 200));
