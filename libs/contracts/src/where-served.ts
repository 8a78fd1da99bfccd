import { familyOf } from './catalog/catalog.js';
import { nearestName } from './nearest-name.js';
import { excerpt } from './unicode-text.js';
import { SPECIFIED_TEXT_MODELS } from './text/text-models.js';

/** Where every text model answers, in a sentence. */
export const WHERE_TEXT_IS =
  'POST /v1/responses, /v1/chat/completions, /v1/messages or /v1beta/models/{model}:generateContent';
const LONGEST_SHOWN = 64;
const MOST_LISTED = 6;

/** "model vendor-5 writes text: send it to ..."; null when this is not a text model of the specification. */
export const textModelElsewhere = (model: string): string | null =>
  SPECIFIED_TEXT_MODELS.some(({ id }) => id === model)
    ? `model ${model} writes text: send it to ${WHERE_TEXT_IS}.`
    : null;

/** The error message for an unknown text model; `known` are the existing names. */
export function unknownTextModel(model: string, known: readonly string[]): string {
  const media = familyOf(model);
  if (media) return `The model "${model}" does not write text: send it to POST ${media.path}.`;
  const near = nearestName(model, known);
  const listed = known.slice(0, MOST_LISTED).join(', ');
  const advice =
    near === null ? `For text there are ${listed} and others; GET /v1/models lists all.` : `Did you mean "${near}"?`;
  return `There is no model "${excerpt(model, LONGEST_SHOWN)}". ${advice}`;
}
