import type { JsonObject, TextStyle } from '#contracts';

/** What a request says with the feature, and what it must say besides for the feature to mean anything. */
export interface Example {
  readonly given?: JsonObject;
  readonly added: JsonObject;
}

/** By the styles that can say it. */
export type Examples = Readonly<Partial<Record<TextStyle, Example>>>;
