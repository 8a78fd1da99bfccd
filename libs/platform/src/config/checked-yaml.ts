import { isNode, LineCounter, parseDocument } from 'yaml';
import { ConfigError, type Environment } from './load-config.js';

export interface YamlFile {
  readonly value: unknown;
  /** The line of a field, or of the nearest field around it when the field itself is missing. */
  readonly lineOf: (path: readonly (string | number)[]) => number;
}

/**
 * Parses a YAML file of the configuration.
 *
 * @param file its name, for the messages.
 * @throws ConfigError with file, line and reason for each mistake.
 */
export function parseYamlFile(text: string, file: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  if (document.errors.length > 0)
    throw new ConfigError(
      document.errors.map((error) => `${file}:${lines.linePos(error.pos[0]).line}: ${error.message.split('\n')[0]}`),
    );
  return {
    value: document.toJS() as unknown,
    lineOf: (path) => {
      for (let length = path.length; length > 0; length -= 1) {
        const node: unknown = document.getIn(path.slice(0, length), true);
        if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
      }
      return 1;
    },
  };
}

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

interface FilledText {
  readonly text: string;
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
