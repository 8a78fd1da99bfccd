import { toSnakeCase } from '../json.js';

/** Takes note of one field that is written wrongly. */
type Report = (param: string, code: 'unknown_parameter', message: string) => void;

/** Nearly all names: nothing in them has another case. */
const LOWER_CASE = /^[a-z0-9_]*$/;

/** A name without its letter case, in the way of parsers that take no notice of it: `ſ` counts as s, the Kelvin sign as k. */
const folded = (name: string): string => (LOWER_CASE.test(name) ? name : name.toUpperCase().toLowerCase());

/** The longest name that an answer repeats, in characters. */
const QUOTED_MAX = 100;

const quoted = (name: string): string => JSON.stringify(name.slice(0, QUOTED_MAX));

/** The names that the fields of an object may have. */
export class KnownNames {
  private readonly known: ReadonlySet<string>;
  /** From the folded form of each name, in either way of writing, to the name. */
  private readonly byFolded = new Map<string, string>();

  constructor(names: readonly string[]) {
    this.known = new Set(names);
    for (const name of names) {
      this.byFolded.set(folded(name), name);
      this.byFolded.set(folded(toSnakeCase(name)), name);
    }
  }

  /** Reports every field whose name differs from a known one, or from another of the object, only in letter case. */
  expectOneSpelling(body: Readonly<Record<string, unknown>>, path: string, report: Report): void {
    let others: Map<string, string> | undefined;
    for (const name of Object.keys(body)) {
      if (this.known.has(name)) continue;
      const form = folded(name);
      const meant = this.byFolded.get(form) ?? others?.get(form);
      if (meant === undefined) (others ??= new Map()).set(form, name);
      else if (meant !== name) {
        const param = path === '' ? name : `${path}.${name}`;
        const message = `The field ${quoted(name)} differs from ${quoted(meant)} only in how it is written; write ${quoted(meant)}, once.`;
        report(param.slice(0, 2 * QUOTED_MAX), 'unknown_parameter', message);
      }
    }
  }
}

/** Ids of what the vendor keeps for the operator's account. */
export const ACCOUNT_IDS: ReadonlySet<string> = new Set([
  'file_id',
  'file_ids',
  'vector_store_id',
  'vector_store_ids',
  'container',
  'container_id',
  'connector_id',
  'skill_id',
  'skills',
  'cachedContent',
  'batch_id',
  'prompt_id',
]);

/** Fields whose inside is the caller's own data: nothing in it is fetched or run. */
export const CALLERS_DATA: ReadonlySet<string> = new Set([
  'parameters',
  'parametersJsonSchema',
  'input_schema',
  'schema',
  'responseSchema',
  'responseJsonSchema',
  'properties',
  'arguments',
  'args',
  'metadata',
  'labels',
  'annotations',
  'citations',
]);

/** Strings that are never an address or id: skipped at once, because nearly all strings are such. */
export const PLAIN: ReadonlySet<string> = new Set(['type', 'role', 'text', 'name', 'id', 'content', 'detail']);

/** Fields that name what is fetched, whatever they hold. */
export const FETCHED = /^(image_url|file_url|video_url|audio_url|document_url|server_url|fileUri)$/;

/** The names that are inspected, as written. A parser that takes no notice of letter case would read other spellings as these. */
export const INSPECTED = new KnownNames([
  ...PLAIN,
  'data',
  'file_data',
  ...ACCOUNT_IDS,
  ...CALLERS_DATA,
  'tools',
  'mcp_servers',
  'definition',
  'cache_control',
  'prompt_cache_breakpoint',
  'prompt_cache_options',
  'ttl',
  'source',
  'input',
  'output',
  'parts',
  'url',
  'uri',
  'image_url',
  'file_url',
  'video_url',
  'audio_url',
  'document_url',
  'server_url',
  'fileUri',
  'fileData',
]);
