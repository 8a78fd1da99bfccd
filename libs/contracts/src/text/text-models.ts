import type { TextStyle } from './text-style.js';

/** A text model as the catalogue lists it. */
export interface TextModel {
  readonly id: string;
  /** The style under which documents list the model. Every model answers in every style. */
  readonly style: TextStyle;
}

/** The model identifiers that every gateway serves; configuration adds more. */
export const SPECIFIED_TEXT_MODELS: readonly TextModel[] = [
  { id: 'vendor-5', style: 'responses' },
  { id: 'vendor-4o-image', style: 'responses' },
  { id: 'vendor-4-vision', style: 'responses' },
  { id: 'vendor-2.5-flash', style: 'gemini' },
  { id: 'vendor-2.5-pro', style: 'gemini' },
  { id: 'vendor-2.5-flash-lite', style: 'gemini' },
  { id: 'vendor-2.5-pro-thinking', style: 'gemini' },
  { id: 'vendor-haiku-4-5-20251001', style: 'messages' },
  { id: 'vendor-sonnet-4-5-20250929', style: 'messages' },
  { id: 'vendor-opus-4-1-20250805', style: 'messages' },
  { id: 'vendor-opus-4-1-20250805-thinking', style: 'messages' },
  { id: 'vendor-sonnet-4-5-20250929-thinking', style: 'messages' },
];

const THINKING_SUFFIX = '-thinking';

/** True when the identifier itself asks the model to think before it answers. */
export const asksForThinking = (model: string): boolean => model.endsWith(THINKING_SUFFIX);
