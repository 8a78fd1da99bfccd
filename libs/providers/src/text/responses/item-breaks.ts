import type { TextEvent } from '#contracts';

/** What an event belongs to that another of the kind would continue; a citation belongs to its text. */
const kindOf = ({ type }: TextEvent): TextEvent['type'] => (type === 'citation' ? 'text' : type);

const GROWING: ReadonlySet<TextEvent['type']> = new Set(['text', 'refusal', 'reasoning']);

/** Keeps items of one kind that follow each other apart, such as two messages: a commentary, and then the answer. */
export class ItemBreaks {
  #last: TextEvent['type'] | undefined;
  #isNext = false;

  /** The events of a whole item. */
  item(events: readonly TextEvent[]): readonly TextEvent[] {
    this.#isNext = true;
    return this.piece(events);
  }

  /** Pieces of the next item will come. */
  begin(): void {
    this.#isNext = true;
  }

  piece(events: readonly TextEvent[]): readonly TextEvent[] {
    const [first] = events;
    const last = events.at(-1);
    if (!first || !last) return events;
    const isApart = this.#isNext && GROWING.has(first.type) && first.type === this.#last;
    this.#isNext = false;
    this.#last = kindOf(last);
    return isApart ? [{ type: 'break' }, ...events] : events;
  }
}
