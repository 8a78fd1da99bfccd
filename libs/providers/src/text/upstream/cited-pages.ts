import { isJsonObject, isParsableUrl, type TextEvent } from '#contracts';

/** A part of a reply with what the vendor notes about it. */
export interface AnnotatedText {
  readonly text?: string;
  readonly annotations?: readonly unknown[] | null;
}

/** What the vendor notes: the page, and the stretch of the part, in characters. */
interface UrlCitation {
  readonly url: string;
  readonly title: string;
  readonly start: number;
  readonly end: number;
  /** Words of the page. */
  readonly quote?: string;
}

/** The most citations of one reply; each takes its address to be read. Answers of searches have some dozens. */
const CITATIONS_MAX = 10_000;

/** Reads the pages that a vendor which searches the web by itself cites, and numbers them in the order in which they come. */
export class CitedPages {
  private readonly places = new Map<string, number>();
  private citations = 0;

  /**
   * The citations in parts that make one text together. Other notes, such as files of the vendor's account, are passed over.
   *
   * @param before how much of the open text stands in front of the parts.
   */
  read(parts: readonly AnnotatedText[], before = 0): TextEvent[] {
    let offset = before;
    return parts.flatMap(({ text = '', annotations }) => {
      const from = offset;
      offset += text.length;
      const read = (annotations ?? []).slice(0, CITATIONS_MAX - this.citations);
      this.citations += read.length;
      return read.flatMap((annotation) => this.cite(urlCitation(annotation), text, from));
    });
  }

  private cite(cited: UrlCitation | undefined, text: string, offset: number): TextEvent[] {
    if (!cited) return [];
    const { url, title, quote = '' } = cited;
    const end = Math.min(cited.end, text.length);
    const start = Math.min(cited.start, end);
    const index = this.places.get(url) ?? this.places.size;
    this.places.set(url, index);
    const source = { kind: 'page', page: { url, title, text: quote } } as const;
    const stretch = { start: offset + start, end: offset + end, text: text.slice(start, end) };
    return [{ type: 'citation', citation: { ...stretch, index, source } }];
  }
}

/** In the form of the responses protocol, or in that of chat completions, whose fields are in an object of their own. */
function urlCitation(annotation: unknown): UrlCitation | undefined {
  if (!isJsonObject(annotation) || annotation['type'] !== 'url_citation') return undefined;
  const inner = annotation['url_citation'];
  const fields = isJsonObject(inner) ? inner : annotation;
  const { url, title, content: quote } = fields;
  if (typeof url !== 'string' || !/^https?:\/\//i.test(url) || !isParsableUrl(url)) return undefined;
  return {
    url,
    title: typeof title === 'string' && title !== '' ? title : new URL(url).hostname,
    start: placeOf(fields['start_index']),
    end: placeOf(fields['end_index']),
    ...(typeof quote === 'string' && { quote }),
  };
}

const placeOf = (value: unknown): number => (Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0);
