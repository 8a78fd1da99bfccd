import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isJsonObject, type JsonValue } from '#contracts';

/** One field that an endpoint takes. */
export interface FalInput {
  readonly required: boolean;
  allows(value: JsonValue): boolean;
}

/** What an endpoint takes, by the names of its fields. */
export type FalInputs = ReadonlyMap<string, FalInput>;

/** The types that fal ships with its own client: every endpoint, every field, every value of a choice. */
const TYPES = createRequire(import.meta.url)
  .resolve('@fal-ai/client/endpoints')
  .replace(/\.js$/, '.d.ts');

let types: string | undefined;
const known = new Map<string, FalInputs | undefined>();

/** What an endpoint takes, as @fal-ai/client types it; undefined for an endpoint that it does not know. */
export function falInputs(endpoint: string): FalInputs | undefined {
  types ??= readFileSync(TYPES, 'utf8');
  if (!known.has(endpoint)) {
    const name = new RegExp(`"${endpoint}": \\{\\s*input: (\\w+);`).exec(types)?.[1];
    known.set(endpoint, name === undefined ? undefined : inputsIn(declarationOf(types, name)));
  }
  return known.get(endpoint);
}

/** The body of a type, through all its other names. */
function declarationOf(text: string, name: string): string {
  const start = text.indexOf(`export type ${name} = `) + `export type ${name} = `.length;
  if (text[start] === '{') return text.slice(start, text.indexOf('\n};', start));
  return declarationOf(text, text.slice(start, text.indexOf(';', start)));
}

/** Reads fields such as `duration?: "5" | "10";`. */
export function inputsIn(declaration: string): FalInputs {
  const bare = declaration.replaceAll(/\/\*\*[\s\S]*?\*\//g, '');
  return new Map(
    [...bare.matchAll(/^\s*(\w+)(\??): (.+);$/gm)].map(([, name = '', optional, type = '']) => {
      const alternatives = type.split(' | ');
      const allows = (value: JsonValue): boolean => alternatives.some((alternative) => isOf(alternative, value));
      return [name, { required: optional === '', allows }];
    }),
  );
}

function isOf(type: string, value: JsonValue): boolean {
  if (type.startsWith('"')) return value === type.slice(1, -1);
  if (/^\d+$/.test(type)) return value === Number(type);
  if (type === 'Array<string>') return Array.isArray(value) && value.every((each) => typeof each === 'string');
  if (type === 'ImageSize') return isJsonObject(value) && isSide(value['width']) && isSide(value['height']);
  return typeof value === type;
}

const isSide = (side: JsonValue | undefined): boolean => typeof side === 'number' && side > 0;
