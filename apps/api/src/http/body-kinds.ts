import { CONVERSATION_JSON, type JsonBounds } from '#platform';

export interface BodyLimits {
  /** The most bytes, which must then be announced; undefined where only the general bound (`BODY_LIMIT_MB`) holds. */
  readonly announcedBytes: number | undefined;
  /** How much structure its JSON may have; undefined: the handler reads it from its bytes, in steps and within bounds of its own. */
  readonly json: JsonBounds | undefined;
}

/** The repeat of a request over its limit is looked for in bodies up to this length, which cost next to nothing to read. */
export const REPEATABLE_BYTES = 64 * 1024;

/** Several times what the longest list of fields takes. */
const FIELDS: JsonBounds = { maxValues: 2_000, maxKeys: 1_000 };

export const BODY_KINDS = {
  /** A list of fields. */
  fields: { announcedBytes: 1024 * 1024, json: FIELDS },
  /** A body that nothing reads, so that its sender needs no key. */
  unread: { announcedBytes: undefined, json: FIELDS },
  /** A file, which its handler writes to the store while it comes. */
  upload: { announcedBytes: undefined, json: FIELDS },
  /** A file of an operator's, as JSON or YAML: a book of prices of 5,000 models is some megabytes. */
  operator_file: { announcedBytes: 16 * 1024 * 1024, json: undefined },
  /** Fields with the text of a long list among them, or the names of its entries. */
  list: { announcedBytes: 16 * 1024 * 1024, json: { maxValues: 100_000, maxKeys: 60_000 } },
  /** Fields with images in them. */
  images: { announcedBytes: undefined, json: FIELDS },
  /** Turns and tools that the caller shapes, with images in them. */
  conversation: { announcedBytes: undefined, json: CONVERSATION_JSON },
} as const satisfies Readonly<Record<string, BodyLimits>>;

export type BodyKind = keyof typeof BODY_KINDS;
