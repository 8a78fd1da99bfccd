import { isIP } from 'node:net';
import { GatewayError } from '#contracts';
import { lruCache, nextTurn, Turns } from '#platform';

/** What stands where something was taken out. */
const REDACTED = '[redacted]';

/** Finds one kind of secret. Each expression takes time in proportion to the text, whatever the text is. */
interface Detector {
  readonly pattern: RegExp;
  /** No more than so many characters are found at once. */
  readonly longest: number;
  /** Says whether what looks like one is one; absent: it is. */
  readonly confirms?: (found: string) => boolean;
}

const DETECTORS = {
  email: { pattern: /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/gu, longest: 640 },
  /** In international form. */
  phone: { pattern: /(?<![\w+])(?:\+|00)\d[\d ()./-]{6,18}\d(?!\d)/gu, longest: 22 },
  card_number: { pattern: /(?<!\d)(?:\d[ -]?){12,18}\d(?!\d)/gu, longest: 37, confirms: hasLuhnDigit },
  iban: {
    pattern: /(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)/gu,
    longest: 43,
    confirms: hasIbanDigits,
  },
  ip_address: {
    pattern: /(?<![\w:.])[\da-f:.]{2,44}[\da-f:](?![\w:])/giu,
    longest: 45,
    confirms: (found) => isIP(found) !== 0,
  },
  /** Keys and tokens by the beginnings that their makers gave them, and private keys. */
  secret: {
    pattern:
      /(?<!\w)(?:sk|pk|rk|hf|gh[opsu]|github_pat|glpat|xox[abprs]|AKIA|ASIA|AIza|eyJ|vrl|xai|gsk)[-_A-Za-z0-9.]{16,1024}|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^-]{1,16384}/gu,
    longest: 16_500,
  },
} as const satisfies Readonly<Record<string, Detector>>;

export const REDACTION_NAMES = Object.keys(DETECTORS) as (keyof typeof DETECTORS)[];

export const REDACTIONS_MAX = 16;
const OWN_LENGTH_MAX = 64;
/** Beside `#` and `*`, or half of every text would be taken out. */
const OWN_LETTERS_LEAST = 3;
/** As much as `*` stands for. */
const OWN_SPAN = String.raw`[^\s]{0,32}`;
/** Each of its characters may be a pair. */
const OWN_LONGEST = 2 * (OWN_LENGTH_MAX + 32);

const isKnown = (name: string): name is keyof typeof DETECTORS => Object.hasOwn(DETECTORS, name);

/** @throws GatewayError `invalid_parameter` for one that is neither a name nor a pattern. */
export function expectRedactions(redactions: readonly string[]): void {
  for (const [index, redaction] of redactions.entries()) {
    if (isKnown(redaction) || isOwn(redaction)) continue;
    const param = `redactions.${index}`;
    throw new GatewayError(
      'invalid_parameter',
      `${param} must be one of ${REDACTION_NAMES.join(', ')}, or a text of at most ${OWN_LENGTH_MAX} characters in one line, in which # stands for a digit and * , at most once, for up to 32 characters without a blank, with ${OWN_LETTERS_LEAST} other characters at least.`,
      { param },
    );
  }
}

function isOwn(pattern: string): boolean {
  const letters = pattern.replaceAll(/[#*\s]/gu, '');
  const isOneLine = !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(pattern) && pattern.isWellFormed();
  return (
    isOneLine && pattern.length <= OWN_LENGTH_MAX && letters.length >= OWN_LETTERS_LEAST && !/\*.*\*/u.test(pattern)
  );
}

/** One `*` of bounded length and no alternatives: an expression that no text can make slow. */
function ownDetector(pattern: string): Detector {
  const escaped = pattern.replaceAll(/[\\^$.+?()[\]{}|/]/gu, String.raw`\$&`);
  const expression = escaped.replaceAll('#', String.raw`\d`).replace('*', OWN_SPAN);
  return { pattern: new RegExp(expression, 'giu'), longest: OWN_LONGEST };
}

class RedactionTooSlow extends Error {}

/** How long the texts of one entry may take, in milliseconds. */
const REDACTION_MS = 2_000;

/** Of each account: so much at once, in milliseconds, and in the long run this part of the time. */
const ACCOUNT_MS = 10_000;
const ACCOUNT_PART = 0.1;

/** How much time of the processor each account may take for its redactions: its entries are free, and their patterns its own. */
export class RedactionTime {
  /** Behind this moment, on the clock of `now`, an account has all of its time again. */
  private readonly wholeAt = lruCache<string, number>(10_000);

  constructor(private readonly now: () => number = () => performance.now()) {}

  hasSome(accountId: string): boolean {
    return (this.wholeAt.get(accountId) ?? 0) - this.now() < ACCOUNT_MS / ACCOUNT_PART;
  }

  take(accountId: string, ms: number): void {
    this.wholeAt.set(accountId, Math.max(this.wholeAt.get(accountId) ?? 0, this.now()) + ms / ACCOUNT_PART);
  }
}

/** Takes out of texts what an account wants nobody to read, and lets other work run meanwhile. */
export class Redaction {
  /** What it has taken until now, in milliseconds. */
  busyMs = 0;
  private readonly detectors: readonly Detector[];

  /** @param redactions names and patterns that `expectRedactions` has passed. */
  constructor(redactions: readonly string[]) {
    this.detectors = redactions.map((redaction) =>
      isKnown(redaction) ? DETECTORS[redaction] : ownDetector(redaction),
    );
  }

  /** The texts without it. @throws RedactionTooSlow: nothing of them may be kept. */
  async clean(texts: readonly string[]): Promise<string[]> {
    if (this.detectors.length === 0) return [...texts];
    const turns = new Turns();
    const cleaned: string[] = [];
    const mostMs = this.busyMs + REDACTION_MS;
    for (const text of texts) {
      let left = text;
      for (const detector of this.detectors) {
        const search = new Search(left, detector);
        for (let isOver = false; !isOver;) {
          const since = performance.now();
          isOver = search.goOn();
          this.busyMs += performance.now() - since;
          if (this.busyMs > mostMs) throw new RedactionTooSlow('the texts take too long to redact');
          if (turns.isOver) await nextTurn(turns);
        }
        left = search.cleaned;
      }
      cleaned.push(left);
    }
    return cleaned;
  }
}

/** So many characters of a text are searched at once: in a millisecond or two, where an expression has to try much at each of them. */
const SEARCHED_AT_ONCE = 8_192;

/** A text that is searched part by part. What is found may reach over the end of its part. */
class Search {
  private readonly kept: string[] = [];
  private from = 0;

  constructor(
    private readonly text: string,
    private readonly detector: Detector,
  ) {}

  get cleaned(): string {
    return this.kept.join('');
  }

  /** Searches the next part. True: it was the last one. */
  goOn(): boolean {
    const { text, from } = this;
    const { pattern, confirms, longest } = this.detector;
    const to = Math.min(text.length, from + SEARCHED_AT_ONCE);
    // With one character before it, and one behind the longest find, which expressions look at.
    const begin = Math.max(0, from - 1);
    const part = text.slice(begin, to + longest + 1);
    let done = from;
    pattern.lastIndex = from - begin;
    for (let found = pattern.exec(part); found && begin + found.index < to; found = pattern.exec(part)) {
      const at = Math.max(begin + found.index, done);
      const isOne = confirms === undefined || confirms(found[0]);
      if (isOne) this.kept.push(text.slice(done, at), REDACTED);
      else this.kept.push(text.slice(done, begin + pattern.lastIndex));
      done = begin + pattern.lastIndex;
    }
    this.from = Math.max(to, done);
    this.kept.push(text.slice(done, this.from));
    return this.from >= text.length;
  }
}

/** The check of card numbers. */
function hasLuhnDigit(found: string): boolean {
  const digits = found.replaceAll(/\D/gu, '');
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits.at(-1 - place));
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** The check of international account numbers: the number that the letters stand for leaves 1 when divided by 97. */
function hasIbanDigits(found: string): boolean {
  const letters = found.replaceAll(' ', '');
  let rest = 0;
  for (const letter of letters.slice(4) + letters.slice(0, 4))
    for (const digit of Number.parseInt(letter, 36).toString()) rest = (rest * 10 + Number(digit)) % 97;
  return rest === 1;
}
