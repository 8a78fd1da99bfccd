import { parseBounded } from '#platform';

/** Numbers, `true` and the like, in characters; what is longer is none of them. */
const BARE_CHARACTERS_MAX = 32;

/**
 * The arguments of a call as they arrive in pieces. Whether they are whole can be asked after each piece, at one pass over
 * all of them: they are parsed only where their brackets say that they end.
 */
export class WrittenArguments {
  private text = '';
  /** What came since it was last looked at. Most calls are never asked about. */
  private unread = '';
  private depth = 0;
  private inString = false;
  private isEscaped = false;
  /** Something stands outside of every bracket and text. */
  private isBare = false;
  private end: 'to come' | 'reached' | 'passed' = 'to come';
  /** Whether what ended is JSON, once it has been parsed. */
  private isJson: boolean | undefined;

  get json(): string {
    return this.text;
  }

  push(piece: string): void {
    this.text += piece;
    this.unread += piece;
  }

  get areWhole(): boolean {
    for (const character of this.unread) this.read(character);
    this.unread = '';
    if (this.end === 'reached') return (this.isJson ??= isJson(this.text));
    return this.end === 'to come' && this.isBare && this.text.length <= BARE_CHARACTERS_MAX && isJson(this.text);
  }

  private read(character: string): void {
    if (this.inString) this.readInString(character);
    else if (/\s/.test(character)) return;
    else if (this.end !== 'to come') this.end = 'passed';
    else if (character === '"') this.inString = true;
    else if (character === '{' || character === '[') this.depth += 1;
    else if (character === '}' || character === ']') this.closeBracket();
    else if (this.depth === 0) this.isBare = true;
  }

  private readInString(character: string): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (character === '\\') this.isEscaped = true;
    else if (character === '"') {
      this.inString = false;
      if (this.depth === 0) this.end = 'reached';
    }
  }

  private closeBracket(): void {
    this.depth -= 1;
    if (this.depth <= 0) this.end = 'reached';
  }
}

function isJson(text: string): boolean {
  try {
    parseBounded(text);
    return true;
  } catch {
    return false;
  }
}
