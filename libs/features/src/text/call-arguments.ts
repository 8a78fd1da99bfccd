import { GatewayError, type JsonObject } from '#contracts';
import { type JsonTexts, textCharactersIn, TooMuchStructure } from '#platform';

/**
 * More than any model reads. Texts of a conversation may be longer, but these are written as JSON, or parsed, in one go, which takes
 * some 6 ms for a million characters.
 */
const CHARACTERS_MAX = 8 * 1024 * 1024;

/** The arguments of all calls of one conversation, and objects that functions returned, which one style has as JSON and another as text. */
export class CallArguments {
  #counted = 0;
  #written = 0;

  /**
   * @param field of the request that holds the conversation.
   * @param texts what else the request holds as JSON within texts.
   */
  constructor(
    private readonly field: string,
    private readonly texts: JsonTexts,
  ) {}

  /**
   * The text of an object.
   *
   * @throws GatewayError `invalid_parameter` when all of them together are too long.
   */
  written(value: JsonObject): string {
    this.#written += textCharactersIn(value, CHARACTERS_MAX);
    this.#expectShort(this.#written);
    return JSON.stringify(value);
  }

  /**
   * Counts a text: many vendors take arguments as objects, and so they are parsed on their way.
   *
   * @throws GatewayError `invalid_parameter` when all of them together are too long, or have more structure than is parsed.
   */
  count(json: string): void {
    this.#counted += json.length;
    this.#expectShort(this.#counted);
    try {
      this.texts.count(json);
    } catch (failure) {
      throw failure instanceof TooMuchStructure ? this.#refusal(failure.rule) : failure;
    }
  }

  #expectShort(characters: number): void {
    if (characters > CHARACTERS_MAX) throw this.#refusal(`have at most ${CHARACTERS_MAX} characters`);
  }

  #refusal(rule: string): GatewayError {
    const message = `${this.field}: The arguments of all calls in it together may ${rule}.`;
    return new GatewayError('invalid_parameter', message, { param: this.field });
  }
}
