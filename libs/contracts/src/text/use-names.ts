import { KnownNames } from './known-names.js';

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
