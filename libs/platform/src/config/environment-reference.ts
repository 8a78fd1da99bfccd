import type { Environment } from './load-config.js';

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** A text whose references are filled in. */
export interface FilledText {
  readonly text: string;
  /** Variables the text names and the environment lacks. */
  readonly missing: readonly string[];
}

/** Replaces each `${NAME}` by the environment variable of that name, so that files need not hold secrets. */
export function fillReferences(text: string, environment: Environment = process.env): FilledText {
  const missing: string[] = [];
  const filled = text.replace(REFERENCE, (reference, name: string) => {
    const value = environment[name];
    if (!value) missing.push(name);
    return value ? value : reference;
  });
  return { text: filled, missing };
}
