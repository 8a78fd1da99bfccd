import type { TextEvent } from '#contracts';
import { parseBounded, parsedObject } from '#platform';

/** What all that is mended but a text begins with, and how long it may be, in characters. */
const SHORT = /^\s*(?:\{\s*\}|n|nu|nul|null)?\s*$/;
const SHORT_MAX = 32;
const EMPTY_OBJECT = /^\s*\{\s*\}\s*$/;

/**
 * Arguments of calls as their tools take them, where servers write them in another way: an object that is written as a text once more,
 * an empty object in front of the real one, or `null`. Arguments that may be of these wait until it is clear; all others pass as they come.
 */
export class MendedArguments {
  private state: 'passing' | 'beginning' | 'text' = 'passing';
  /** What waits of the arguments of the call that is open. */
  private held: string[] = [];

  take(events: readonly TextEvent[]): readonly TextEvent[] {
    if (this.state === 'passing' && !events.some(({ type }) => type === 'call')) return events;
    return events.flatMap((event) => {
      if (event.type === 'arguments') return said(this.push(event.json));
      const rest = said(this.rest());
      this.state = event.type === 'call' ? 'beginning' : 'passing';
      return [...rest, event];
    });
  }

  private push(piece: string): string {
    if (this.state === 'passing') return piece;
    this.held.push(piece);
    if (this.state === 'text') return '';
    const json = this.held.join('');
    if (json.trimStart().startsWith('"')) this.state = 'text';
    else if (json.length > SHORT_MAX || !SHORT.test(json)) return this.pass(piece);
    return '';
  }

  /** The piece that tells that all may pass, and what waited in front of it. */
  private pass(piece: string): string {
    const waited = this.held.slice(0, -1).join('');
    this.state = 'passing';
    this.held = [];
    return EMPTY_OBJECT.test(waited) && piece.trimStart().startsWith('{') ? piece : waited + piece;
  }

  /** What waited until the call was over. */
  private rest(): string {
    const json = this.held.join('');
    this.held = [];
    if (this.state === 'text') return objectIn(json);
    return json.trim() === 'null' ? '' : json;
  }
}

const said = (json: string): TextEvent[] => (json === '' ? [] : [{ type: 'arguments', json }]);

/** The object in a text; what is no such text stays as it is. */
function objectIn(json: string): string {
  try {
    const text: unknown = parseBounded(json);
    return typeof text === 'string' && parsedObject(text) ? text : json;
  } catch {
    return json;
  }
}
