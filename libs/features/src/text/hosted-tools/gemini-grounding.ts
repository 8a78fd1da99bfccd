import type { Citation, JsonObject, ToolStep } from '#contracts';

/** Collects the sources of an answer, in the form of the gemini style. */
export class Grounding {
  readonly #queries: { web: string[]; files: string[] } = { web: [], files: [] };
  readonly #chunks: JsonObject[] = [];
  readonly #places = new Map<string, number>();
  readonly #supports = new Map<string, { segment: JsonObject; indices: number[] }>();
  /** How far the bytes of a block were counted last: citations come in order, and each would count all before it again. */
  #counted = { block: '', at: 0, bytes: 0 };

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
    const name = `${partIndex}/${before.length}`;
    const startIndex = this.#bytesTo(start, name, before, block);
    const endIndex = this.#bytesTo(end, name, before, block);
    const stretch = `${partIndex}/${startIndex}/${endIndex}`;
    const support = this.#supports.get(stretch);
    if (support) support.indices.push(place);
    else this.#supports.set(stretch, { segment: { partIndex, startIndex, endIndex, text }, indices: [place] });
  }

  #bytesTo(at: number, name: string, before: string, block: string): number {
    if (this.#counted.block !== name) this.#counted = { block: name, at: 0, bytes: Buffer.byteLength(before) };
    const { at: from, bytes } = this.#counted;
    const [low, high] = from <= at ? [from, at] : [at, from];
    const between = Buffer.byteLength(block.slice(low, high));
    this.#counted = { block: name, at, bytes: from <= at ? bytes + between : bytes - between };
    return this.#counted.bytes;
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
