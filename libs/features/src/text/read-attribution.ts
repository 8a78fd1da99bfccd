import { isJsonObject } from '#contracts';
import { type Attribution, TAG_FORM, TAGS_MAX } from '../billing/usage/attribution.js';
import { IN_USER_ID, isName, type NamedHeaders, sessionOf } from './conversation-key.js';

type Fields = Readonly<Record<string, unknown>>;

/** What the key adds, and what its account limits. */
export interface TaggedKey {
  readonly tags: readonly string[];
  readonly limitedTags: readonly string[];
}

const NAME_MAX = 128;

/** The first that has a value which may be kept counts. */
const AGENT_HEADERS = ['x-claude-code-agent-id', 'thread-id'];
const PROXY_USER_HEADERS = ['x-litellm-end-user-id', 'x-litellm-customer-id', 'x-openwebui-user-id'];
const TAG_HEADERS = ['x-tags', 'x-litellm-tags'];

const firstOf = (values: Iterable<unknown>, most: number): string | undefined => {
  for (const value of values) if (isName(value, most)) return value;
  return undefined;
};

const inHeaders = (headers: NamedHeaders, names: readonly string[]): unknown[] => names.map((name) => headers[name]);

/**
 * Reads what a client says of its request; values that break a bound are left out. Undefined where nothing is said.
 *
 * @param body the body as it was sent, of any style.
 */
export function attributionOf(headers: NamedHeaders, sent: unknown, key: TaggedKey): Attribution | undefined {
  const body: Fields = isJsonObject(sent) ? sent : {};
  const metadata: Fields = isJsonObject(body['metadata']) ? body['metadata'] : {};
  const session = sessionOf(headers, body);
  const agent = firstOf(inHeaders(headers, AGENT_HEADERS), NAME_MAX);
  const endUser = firstOf(
    [
      headers['x-end-user-id'],
      body['user'],
      body['safety_identifier'],
      personIn(metadata['user_id']),
      ...inHeaders(headers, PROXY_USER_HEADERS),
    ],
    NAME_MAX,
  );
  const tags = tagsOf(headers, metadata['tags'], key.tags);
  if (session === undefined && agent === undefined && endUser === undefined && tags.length === 0) return undefined;
  const limitedTags = tags.filter((tag) => key.limitedTags.includes(tag));
  return {
    ...(session !== undefined && { session }),
    ...(agent !== undefined && { agent }),
    ...(endUser !== undefined && { endUser }),
    ...(tags.length > 0 && { tags }),
    ...(limitedTags.length > 0 && { limitedTags }),
  };
}

/** Agents write their session into the field for the person: without it, or each would be another person. */
function personIn(userId: unknown): unknown {
  if (typeof userId !== 'string') return undefined;
  return jsonIn(userId)?.['session_id'] === undefined ? userId.replace(IN_USER_ID, '') : undefined;
}

function jsonIn(text: string): Fields | undefined {
  if (!text.startsWith('{') || text.length > 2_048) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Those of the key first, so that a client cannot push them out. */
function tagsOf(headers: NamedHeaders, inBody: unknown, ofKey: readonly string[]): readonly string[] {
  const sent = [...inHeaders(headers, TAG_HEADERS), inBody].filter((list) => list !== undefined && list !== null);
  if (sent.length === 0) return ofKey;
  const tags = new Set(ofKey);
  for (const list of sent)
    for (const tag of listed(list)) {
      if (tags.size >= TAGS_MAX) return [...tags];
      if (TAG_FORM.test(tag)) tags.add(tag);
    }
  return [...tags];
}

/** So long a list is read, however many bad entries it has. */
const LIST_MAX = 100;

function listed(list: unknown): string[] {
  const entries: readonly unknown[] = Array.isArray(list) ? list : [list];
  return entries
    .slice(0, LIST_MAX)
    .flatMap((entry) => (typeof entry === 'string' ? entry.split(',', LIST_MAX).map((tag) => tag.trim()) : []));
}
