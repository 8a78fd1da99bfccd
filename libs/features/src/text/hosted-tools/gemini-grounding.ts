import type { Citation, JsonObject, ToolStep } from '#contracts';

/** Collects the sources of an answer, in the form of the gemini style. */
export class Grounding {
  readonly #queries: { web: string[]; files: string[] } = { web: [], files: [] };
  readonly #chunks: JsonObject[] = [];
  readonly #places = new Map<string, number>();
  readonly #supports = new Map<string, { segment: JsonObject; indices: number[] }>();

  step(step: ToolStep): void {
    if (step.type === 'web_search') this.#queries.web.push(step.query);
    if (step.type === 'file_search') this.#queries.files.push(step.query);
  }

  /**
   * @param before the text of the part in front of the block that the citation counts in.
   * @param block the text of that block.
   */
  citation({ start, end, text, source }: Citation, before: string, block: string, partIndex: number): void {
    const id = idOf(source);
    const known = this.#places.get(id);
    const place = known ?? this.#chunks.length;
    if (known === undefined) {
      this.#places.set(id, place);
      this.#chunks.push(chunkOf(source));
    }
    // The style counts bytes.
    const startIndex = Buffer.byteLength(before + block.slice(0, start));
    const endIndex = Buffer.byteLength(before + block.slice(0, end));
    const name = `${partIndex}/${startIndex}/${endIndex}`;
    const support = this.#supports.get(name);
    if (support) support.indices.push(place);
    else this.#supports.set(name, { segment: { partIndex, startIndex, endIndex, text }, indices: [place] });
  }

  /** Undefined where nothing was searched and nothing is cited. */
  metadata(): JsonObject | undefined {
    const { web, files } = this.#queries;
    if (web.length === 0 && files.length === 0 && this.#chunks.length === 0) return undefined;
    return {
      ...(web.length > 0 && { webSearchQueries: web }),
      ...(files.length > 0 && { retrievalQueries: files }),
      groundingChunks: this.#chunks,
      groundingSupports: [...this.#supports.values()].map(({ segment, indices }) => ({
        segment,
        groundingChunkIndices: indices,
      })),
    };
  }
}

const idOf = (source: Citation['source']): string =>
  source.kind === 'page' ? source.page.url : `${source.passage.fileId}/${source.passage.start}`;

function chunkOf(source: Citation['source']): JsonObject {
  if (source.kind === 'page') {
    const { url, title } = source.page;
    return { web: { uri: url, title, domain: new URL(url).hostname } };
  }
  const { fileId, filename, text, start, end } = source.passage;
  return { retrievedContext: { uri: fileId, title: filename, text, passage: { start, end } } };
}
