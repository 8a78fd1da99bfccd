import { Optional, Required, type FieldCheck } from './body-check.js';
import { choice, listOf, text, whole } from './field-checks.js';

/** The most inputs of one request, as the interface has it. */
const MOST_INPUTS = 2_048;

const words = text({ min: 1 });
const token = whole(0, 0xff_ff_ff_ff);
const tokens = listOf(token, { min: 1 });
const texts = listOf(words, { min: 1, max: MOST_INPUTS });
const tokenLists = listOf(tokens, { min: 1, max: MOST_INPUTS });

/** A text, several of them, or one or several that a tokenizer has cut already. */
const input: FieldCheck = (value, param, report) => {
  if (typeof value === 'string') return words(value, param, report);
  if (!Array.isArray(value))
    return report(param, 'invalid_parameter', `${param} must be a string, or an array of strings or of tokens.`);
  const first: unknown = value[0];
  if (typeof first === 'number') return tokens(value, param, report);
  return Array.isArray(first) ? tokenLists(value, param, report) : texts(value, param, report);
};

export type EmbeddingsInput = string | readonly string[] | readonly number[] | readonly (readonly number[])[];

/** Body of `POST /v1/embeddings`. */
export class EmbeddingsRequest {
  @Required(text({ min: 1 })) model!: string;
  @Required(input) input!: EmbeddingsInput;
  @Optional(choice(['float', 'base64'])) encoding_format?: 'float' | 'base64' | null;
  @Optional(whole(1, 1_000_000)) dimensions?: number | null;
  @Optional(text()) user?: string | null;
}

/** What may pass to an upstream: the fields of the interface, and what vendors add that costs nothing. Others are left out. */
export const EMBEDDINGS_FIELDS: ReadonlySet<string> = new Set(
  `model input encoding_format dimensions user safety_identifier
   input_type task task_type truncate truncation output_dtype output_dimension normalized truncate_prompt_tokens
   add_special_tokens late_chunking embedding_type`.split(/\s+/),
);
