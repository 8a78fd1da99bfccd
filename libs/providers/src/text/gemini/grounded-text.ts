import { isJsonObject, type JsonObject, type TextEvent } from '#contracts';
import { CitedPages } from '../upstream/cited-pages.js';

/** What a vendor that searches by itself notes of a reply: the pages, and the stretches of its text that rest on them. */
export interface GroundingMetadata {
  readonly webSearchQueries?: unknown;
  /** The pages, or what else was found, each in an object that says what it is. */
  readonly groundingChunks?: unknown;
  /** Each a `segment` of the text, in bytes, and `groundingChunkIndices`. */
  readonly groundingSupports?: unknown;
  readonly searchEntryPoint?: unknown;
}

/** The most stretches that are read, the most pages, and the most pages of one stretch. */
const SUPPORTS_MAX = 1_000;
const PAGES_MAX = 1_000;
const PAGES_OF_STRETCH_MAX = 100;

/** The open text of a reply, of which the vendor notes at the end on what it rests. */
export class GroundedText {
  /** The texts in front of the open one. */
  private before = '';
  private open = '';
  private isOpen = false;
  private noted: GroundingMetadata | undefined;
  /** Where the texts of the parts begin, of which the vendor noted something. */
  private partStarts: readonly number[] = [];
  /** Where the text of the request begins that is answered now. */
  private start = 0;

  /** How much text there is until now, in UTF-16 units. */
  get length(): number {
    return this.before.length + this.open.length;
  }

  /** @param event what the reply says next. */
  add(event: TextEvent): void {
    if (event.type !== 'text') {
      this.isOpen = false;
      return;
    }
    if (!this.isOpen) {
      this.before += this.open;
      this.open = '';
    }
    this.isOpen = true;
    this.open += event.text;
  }

  /** What comes next is of another request, which goes on with the reply. */
  nextPart(): void {
    this.start = this.length;
    this.noted = undefined;
  }

  /**
   * A stream repeats what it noted with all that came since.
   *
   * @param partStarts how much text there was in front of each part that came with it.
   */
  note(noted: GroundingMetadata, partStarts: readonly number[]): void {
    this.noted = noted;
    this.partStarts = partStarts;
  }

  /** Citations of the open text: of the stretch that rests on a page, or at its end where the vendor names none of it. */
  citations(): readonly TextEvent[] {
    if (!this.noted || !this.isOpen) return [];
    const pages = listIn(this.noted.groundingChunks).slice(0, PAGES_MAX).map(pageIn);
    const unplaced = new Set(pages);
    const places = new BytePlaces(this.before + this.open);
    const placed = listIn(this.noted.groundingSupports)
      .slice(0, SUPPORTS_MAX)
      .flatMap((support) => {
        if (!isJsonObject(support)) return [];
        const cited = listIn(support['groundingChunkIndices'])
          .slice(0, PAGES_OF_STRETCH_MAX)
          .map((index) => pages[Number(index)])
          .filter((page) => page !== undefined);
        const stretch = this.stretchOf(support['segment'], places);
        if (!stretch) return [];
        for (const page of cited) unplaced.delete(page);
        return cited.map((page) => ({ ...page, ...stretch }));
      });
    const { length } = this.open;
    const others = [...unplaced].map((page) => ({ ...page, start_index: length, end_index: length }));
    return new CitedPages().read([{ text: this.open, annotations: [...placed, ...others] }]);
  }

  /** Undefined for a stretch of a text that is no longer open. Counts that are 0 are left out by the vendor. */
  private stretchOf(segment: unknown, places: BytePlaces): JsonObject | undefined {
    if (!isJsonObject(segment)) return undefined;
    const { partIndex, startIndex, endIndex } = segment;
    const part = Number(partIndex ?? 0);
    // The first part of a stream is all that was said.
    const from = part === 0 ? this.start : this.partStarts[part];
    if (from === undefined) return undefined;
    const start = places.behind(from, Number(startIndex ?? 0)) - this.before.length;
    const end = places.behind(from, Number(endIndex ?? 0)) - this.before.length;
    return start >= 0 && end > start ? { start_index: start, end_index: end } : undefined;
  }
}

/** Where the bytes of a text in UTF-8 stand, in UTF-16 units. */
class BytePlaces {
  /** For each byte, and for the end, how many units stand in front of it. */
  private readonly units: Uint32Array;

  constructor(text: string) {
    this.units = new Uint32Array(Buffer.byteLength(text) + 1);
    let byte = 0;
    for (let unit = 0; unit < text.length; unit += 1) {
      const end = byte + bytesOf(text.charCodeAt(unit));
      while (byte < end) this.units[byte++] = unit;
    }
    this.units[byte] = text.length;
  }

  /** The unit so many bytes behind another one; -1 where the text has none there. */
  behind(unit: number, bytes: number): number {
    let [low, high] = [0, this.units.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.units[middle] ?? 0) < unit) low = middle + 1;
      else high = middle;
    }
    return this.units[low + bytes] ?? -1;
  }
}

/** Of one UTF-16 unit in UTF-8; each half of a surrogate pair has two of its four. */
function bytesOf(unit: number): number {
  if (unit < 0x80) return 1;
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
}

type Page = JsonObject;

const listIn = (sent: unknown): readonly unknown[] => (Array.isArray(sent) ? sent : []);

/** A page as other vendors annotate it; what is no page of the web has no address, and is passed over later. */
function pageIn(chunk: unknown): Page {
  const { web, maps, retrievedContext } = isJsonObject(chunk) ? chunk : {};
  const found = [web, maps, retrievedContext].find((one) => isJsonObject(one));
  const { uri, title } = isJsonObject(found) ? found : {};
  return {
    type: 'url_citation',
    ...(typeof uri === 'string' && { url: uri }),
    ...(typeof title === 'string' && { title }),
  };
}
