import { isJsonObject, type TextEvent } from '#contracts';
import { CitedPages } from '../upstream/cited-pages.js';

/** The texts of one reply. Text blocks that follow each other are pieces of one text, cut where a citation belongs to them. */
export class MessagesText {
  readonly #pages = new CitedPages();
  /** What has been said of the open text in blocks before this one, in UTF-16 units. */
  #before = 0;
  #block = '';
  #citations: unknown[] = [];
  #isCut = false;

  /** A block of another kind begins, also one that other styles do not have: what is said behind it is another text. */
  cut(): void {
    this.#isCut = this.#before > 0;
  }

  add(text: string | undefined): TextEvent[] {
    if (!text) return [];
    const apart: TextEvent[] = this.#isCut ? [{ type: 'break' }] : [];
    if (this.#isCut) this.#before = 0;
    this.#isCut = false;
    this.#block += text;
    return [...apart, { type: 'text', text }];
  }

  /** A vendor that searches the web by itself cites unasked, in front of the words or behind them. */
  cite(citations: unknown): void {
    if (Array.isArray(citations)) this.#citations.push(...(citations as readonly unknown[]));
  }

  /** The block is over: its citations are about all of it. */
  close(): TextEvent[] {
    const { length } = this.#block;
    const annotations = this.#citations.map((citation) => annotationOf(citation, length));
    const cited = length > 0 ? this.#pages.read([{ text: this.#block, annotations }], this.#before) : [];
    this.#before += length;
    this.#block = '';
    this.#citations = [];
    return cited;
  }
}

/** Where each kind of citation has the address of a page; those of documents are asked for in this style alone. */
const ADDRESS: Readonly<Record<string, string>> = {
  web_search_result_location: 'url',
  search_result_location: 'source',
};

function annotationOf(citation: unknown, end: number): unknown {
  if (!isJsonObject(citation)) return undefined;
  const { type, title, cited_text: content } = citation;
  const url = citation[ADDRESS[String(type)] ?? ''];
  return { type: 'url_citation', url, title, content, start_index: 0, end_index: end };
}
