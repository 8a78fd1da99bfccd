/** Puts several texts of a reply together where a style has one place for all of them: a blank line stands between two. */
export class JoinedTexts {
  #isCut = false;
  #last = '';
  #length = 0;

  /** How much has been put together, in UTF-16 units. */
  get length(): number {
    return this.#length;
  }

  /** What comes next is another text. */
  cut(): void {
    this.#isCut = this.#length > 0;
  }

  /** The piece as it stands in the whole: with the blank line in front when it begins another text. */
  add(piece: string): string {
    if (piece === '') return '';
    const isApart = this.#last === '\n' || piece.startsWith('\n');
    const placed = this.#isCut && !isApart ? `\n\n${piece}` : piece;
    this.#isCut = false;
    this.#last = piece.at(-1) ?? this.#last;
    this.#length += placed.length;
    return placed;
  }
}
