import type { JsonObject } from '#contracts';
import { JsonTexts, parsedObject } from '#platform';

/** A number with too many digits to be exact: its text stays as it is. */
const LONG_NUMBER = /[\s:,[-]\d{16}/;

/** The interface takes this field for a reference to a file of the result, and refuses one that leads to none. */
const REFERENCE = /"\$ref"\s*:/;

/** All of them are parsed in one go, so that those beyond it stay texts, which say the same. */
const CHARACTERS_MAX = 4 * 1024 * 1024;

/** What the functions of one conversation returned, where it is an object. */
export class ResultObjects {
  readonly #texts = new JsonTexts();
  #characters = 0;

  /** The object that a result is; undefined where it is another text, or as an object would not be what it was. */
  in(text: string): JsonObject | undefined {
    return parsedObject(text, (json) => {
      this.#characters += json.length;
      if (this.#characters > CHARACTERS_MAX || LONG_NUMBER.test(json) || REFERENCE.test(json)) return undefined;
      return this.#texts.parse(json);
    });
  }
}
