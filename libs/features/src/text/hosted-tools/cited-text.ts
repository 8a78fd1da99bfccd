import type { TextEvent } from '#contracts';
import type { Sources } from './sources.js';

/** A mark may say more than the number, in the form that some models were taught: `【4†report.pdf】`, `【1, 2】`. */
const MARK = /^【\s*(\d{1,4}(?:\s*[,、]\s*\d{1,4})*)(?:\s*[:†][^【】]{0,80})?\s*】/;
const LONGEST_MARK = 128;

/** Where a sentence ends: behind its point when white space follows, at once in scripts without white space. */
const SENTENCE_END = /[.!?]["'”’)\]]*(?=\s)|[。！？][”’」』）]*|\n/g;

/** Whether more of the text may make a mark of its beginning. */
const mayBecomeMark = (text: string): boolean => text.length < LONGEST_MARK && !text.includes('】');

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
  readonly #sources: Sources;
  /** What may be the beginning of a mark, or white space in front of one. */
  #held = '';
  /** Written of the open text block, in UTF-16 units. */
  #offset = 0;
  /** The open sentence, and the one before it. */
  #open: Stretch = { start: 0, text: '' };
  #last: Stretch | undefined;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  /** The text without its marks, and its citations. */
  push(piece: string): TextEvent[] {
    const events: TextEvent[] = [];
    let rest = this.#held + piece;
    for (let place = rest.indexOf('【'); place !== -1; place = rest.indexOf('【')) {
      const mark = MARK.exec(rest.slice(place, place + LONGEST_MARK));
      if (!mark && mayBecomeMark(rest.slice(place))) return this.#hold(rest, place, events);
      rest = this.#pass(rest, place, mark, events);
    }
    return this.#hold(rest, rest.length, events);
  }

  /** What is left when the text block ends. The next one begins again. */
  end(): TextEvent[] {
    const events: TextEvent[] = [];
    this.#write(this.#held, events);
    this.#held = '';
    this.#offset = 0;
    this.#open = { start: 0, text: '' };
    this.#last = undefined;
    return events;
  }

  /** Writes up to what may be a mark, and keeps that, with the white space in front of it. */
  #hold(text: string, place: number, events: TextEvent[]): TextEvent[] {
    const shown = text.slice(0, place).replace(/ +$/, '');
    this.#write(shown, events);
    this.#held = text.slice(shown.length);
    return events;
  }

  /** Writes what stands in front of a bracket, and cites what stands in it, or writes the bracket too; answers the rest. */
  #pass(text: string, place: number, mark: RegExpExecArray | null, events: TextEvent[]): string {
    const cited = this.#cited(mark?.[1] ?? '');
    const end = place + (mark?.[0].length ?? 1);
    if (cited.length === 0) this.#write(text.slice(0, end), events);
    else {
      this.#write(text.slice(0, place).replace(/ +$/, ''), events);
      events.push(...this.#citations(cited));
    }
    return text.slice(end);
  }

  #cited(numbers: string): number[] {
    return numbers
      .split(/[,、]/)
      .map((number) => Number(number.trim()))
      .filter((number) => this.#sources.get(number) !== undefined);
  }

  #write(text: string, events: TextEvent[]): void {
    if (text === '') return;
    events.push({ type: 'text', text });
    this.#offset += text.length;
    const whole = this.#open.text + text;
    let from = 0;
    for (const end of whole.matchAll(SENTENCE_END)) {
      const to = end.index + end[0].length;
      this.#close({ start: this.#open.start + from, text: whole.slice(from, to) });
      from = to;
    }
    this.#open = { start: this.#open.start + from, text: whole.slice(from) };
  }

  #close(stretch: Stretch): void {
    if (stretch.text.trim() !== '') this.#last = stretch;
  }

  #citations(numbers: readonly number[]): TextEvent[] {
    this.#close(this.#open);
    const { start, text } = this.#last ?? this.#open;
    const words = text.trim();
    const from = start + text.indexOf(words);
    this.#open = { start: this.#offset, text: '' };
    return numbers.flatMap((number): TextEvent[] => {
      const source = this.#sources.get(number);
      if (!source) return [];
      const citation = { start: from, end: from + words.length, text: words, index: number - 1, source };
      return [{ type: 'citation', citation }];
    });
  }
}
