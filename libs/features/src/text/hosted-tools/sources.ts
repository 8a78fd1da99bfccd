import type { Citation, FoundPage, FoundPassage } from '#contracts';

type Source = Citation['source'];

/** What the tools of one request found, each with the number that the model cites it by: from 1, the same source once. */
export class Sources {
  readonly #list: Source[] = [];
  readonly #numbers = new Map<string, number>();

  passage(passage: FoundPassage): number {
    return this.#number(`${passage.fileId}\n${passage.start}\n${passage.end}`, { kind: 'passage', passage });
  }

  page(page: FoundPage): number {
    return this.#number(page.url, { kind: 'page', page });
  }

  /** The source of a number; undefined for one that nothing has. */
  get(number: number): Source | undefined {
    return this.#list[number - 1];
  }

  #number(name: string, source: Source): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#list.push(source);
    this.#numbers.set(name, this.#list.length);
    return this.#list.length;
  }
}

/** How a source is named in what the model reads, and how it names it. */
export const markOf = (number: number): string => `【${number}】`;

/** Explains the marks to the model, wherever it is given some. */
export const HOW_TO_CITE = `Cite what you use: write its mark, such as ${markOf(1)}, directly behind the sentence that rests on it.`;
