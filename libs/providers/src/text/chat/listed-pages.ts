import { isJsonObject, type JsonObject } from '#contracts';

/** The pages that vendors which search by themselves list beside their reply; its content cites them by number. */
export interface ListedPages {
  /** Their addresses alone. */
  readonly citations?: unknown;
  readonly search_results?: unknown;
}

/** The mark of a page in the content, `[2]`, which is not the words of a link. */
const MARK = /\[(\d{1,3})\](?!\()/g;

/** The most marks that are looked at. */
const MARKS_MAX = 10_000;
/** The most pages that a mark can name. */
const PAGES_MAX = 999;

/** The list as annotations of the content: at each mark of a page, and without a place for a page that has no mark. */
export function annotationsOf(listed: ListedPages, content: string): readonly JsonObject[] {
  const pages = pagesIn(listed);
  if (pages.length === 0) return [];
  const unmarked = new Set(pages);
  const marked: JsonObject[] = [];
  let looks = 0;
  for (const { 0: mark, 1: number, index } of content.matchAll(MARK)) {
    if (++looks > MARKS_MAX) break;
    const page = pages[Number(number) - 1];
    if (!page) continue;
    unmarked.delete(page);
    marked.push({ ...page, start_index: index, end_index: index + mark.length });
  }
  const { length } = content;
  return [...marked, ...[...unmarked].map((page) => ({ ...page, start_index: length, end_index: length }))];
}

/** Other vendors may have something else under these names, which is no reason to refuse their reply. */
const listIn = (sent: unknown): readonly unknown[] => (Array.isArray(sent) ? sent : []);

/** One list says of the pages what the other leaves out; the marks count in the list of addresses where there is one. */
function pagesIn({ citations, search_results: results }: ListedPages): readonly JsonObject[] {
  const found = listIn(results).filter((result) => isJsonObject(result));
  const cited = listIn(citations);
  const urls = cited.length > 0 ? cited : found.map(({ url }) => url);
  const byUrl = new Map<unknown, Readonly<Record<string, unknown>>>(
    found.toReversed().map((result) => [result['url'], result]),
  );
  return urls.slice(0, PAGES_MAX).map((url) => {
    const { title, snippet } = byUrl.get(url) ?? {};
    return {
      type: 'url_citation',
      ...(typeof url === 'string' && { url }),
      ...(typeof title === 'string' && { title }),
      ...(typeof snippet === 'string' && { content: snippet }),
    };
  });
}
