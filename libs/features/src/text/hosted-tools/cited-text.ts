import type { Citation, FoundPage, FoundPassage, TextEvent } from '#contracts';

type Source = Citation['source'];

/** What the tools of one request found, each with the number that the model cites it by: from 1, the same source once. */
export class Sources {
  private readonly list: Source[] = [];
  private readonly numbers = new Map<string, number>();

  passage(passage: FoundPassage): number {
    return this.number(`${passage.fileId}\n${passage.start}\n${passage.end}`, { kind: 'passage', passage });
  }

  page(page: FoundPage): number {
    return this.number(page.url, { kind: 'page', page });
  }

  /** The source of a number; undefined for one that nothing has. */
  get(number: number): Source | undefined {
    return this.list[number - 1];
  }

  private number(name: string, source: Source): number {
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    this.list.push(source);
    this.numbers.set(name, this.list.length);
    return this.list.length;
  }
}

/** How a source is named in what the model reads, and how it names it. */
export const markOf = (number: number): string => `【${number}】`;

/** Explains the marks to the model, wherever it is given some. */
export const HOW_TO_CITE = `Cite what you use: write its mark, such as ${markOf(1)}, directly behind the sentence that rests on it.`;

/** A mark may say more than the number, in the form that some models were taught: `【4†report.pdf】`, `【1, 2】`. */
const MARK = /^【\s*(\d{1,4}(?:\s*[,、]\s*\d{1,4})*)(?:\s*[:†][^【】]{0,80})?\s*】/;
const LONGEST_MARK = 128;

/** Where a sentence ends: behind its point when white space follows, at once in scripts without white space. */
const SENTENCE_END = /[.!?]["'”’)\]]*(?=\s)|[。！？][”’」』）]*|\n/g;

/** Of a longer sentence only the end is cited: each of its marks repeats it, and each piece of it is looked into again. */
const LONGEST_SENTENCE = 2_000;
/** How much of an open sentence may turn out to be its end: a point and closing signs. */
const LONGEST_END = 16;

/** A stretch of the text that a mark may stand behind. */
interface Stretch {
  readonly start: number;
  readonly text: string;
}

/**
 * Takes the marks of sources out of a text that comes in pieces, and emits citations of the sentence before instead.
 * Marks of no source stay as they are.
 */
export class CitedText {
  /** What may be the beginning of a mark, or white space in front of one. */
  private held = '';
  /** Written of the open text block, in UTF-16 units. */
  private offset = 0;
  /** The open sentence, and the one before it. */
  private open: Stretch = { start: 0, text: '' };
  private last: Stretch | undefined;

  constructor(private readonly sources: Sources) {}

  /** The text without its marks, and its citations. */
  push(piece: string): TextEvent[] {
    const events: TextEvent[] = [];
    let rest = this.held + piece;
    let place = rest.indexOf('【');
    while (place !== -1) {
      const ahead = rest.slice(place, place + LONGEST_MARK);
      const mark = MARK.exec(ahead);
      if (!mark && ahead.length < LONGEST_MARK && !ahead.includes('】')) return this.hold(rest, place, events);
      const cited = mark ? this.cited(mark[1] ?? '') : [];
      const end = place + (mark?.[0].length ?? 1);
      // A mark of no source is text like any other.
      if (cited.length === 0) place = rest.indexOf('【', end);
      else {
        this.write(rest.slice(0, endOfWords(rest, place)), events);
        events.push(...this.citations(cited));
        rest = rest.slice(end);
        place = rest.indexOf('【');
      }
    }
    return this.hold(rest, rest.length, events);
  }

  /** What is left when the text block ends. The next one begins again. */
  end(): TextEvent[] {
    const events: TextEvent[] = [];
    this.write(this.held, events);
    this.held = '';
    this.offset = 0;
    this.open = { start: 0, text: '' };
    this.last = undefined;
    return events;
  }

  /** Writes up to what may be a mark, and keeps that, with the white space in front of it. */
  private hold(text: string, place: number, events: TextEvent[]): TextEvent[] {
    const from = Math.max(endOfWords(text, place), place - LONGEST_MARK);
    this.write(text.slice(0, from), events);
    this.held = text.slice(from);
    return events;
  }

  private cited(numbers: string): number[] {
    return numbers
      .split(/[,、]/)
      .map((number) => Number(number.trim()))
      .filter((number) => this.sources.get(number) !== undefined);
  }

  private write(text: string, events: TextEvent[]): void {
    if (text === '') return;
    events.push({ type: 'text', text });
    this.offset += text.length;
    const { start, text: open } = this.open;
    const whole = open + text;
    const ends = new RegExp(SENTENCE_END);
    ends.lastIndex = Math.max(0, open.length - LONGEST_END);
    let from = 0;
    for (let end = ends.exec(whole); end; end = ends.exec(whole)) {
      this.close({ start: start + from, text: whole.slice(from, ends.lastIndex) });
      from = ends.lastIndex;
    }
    this.open = endOf({ start: start + from, text: whole.slice(from) });
  }

  private close(stretch: Stretch): void {
    if (stretch.text.trim() !== '') this.last = endOf(stretch);
  }

  private citations(numbers: readonly number[]): TextEvent[] {
    this.close(this.open);
    const { start, text } = this.last ?? this.open;
    const words = text.trim();
    const from = start + text.indexOf(words);
    this.open = { start: this.offset, text: '' };
    return numbers.flatMap((number): TextEvent[] => {
      const source = this.sources.get(number);
      if (!source) return [];
      const citation = { start: from, end: from + words.length, text: words, index: number - 1, source };
      return [{ type: 'citation', citation }];
    });
  }
}

/** Where the white space in front of a place begins. */
function endOfWords(text: string, place: number): number {
  let end = place;
  while (end > 0 && text[end - 1] === ' ') end -= 1;
  return end;
}

function endOf(stretch: Stretch): Stretch {
  const cut = stretch.text.length - LONGEST_SENTENCE;
  return cut > 0 ? { start: stretch.start + cut, text: stretch.text.slice(cut) } : stretch;
}
