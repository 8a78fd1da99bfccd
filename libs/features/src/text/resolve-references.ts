import { GatewayError, type JsonValue, type ResponsesItem, type ResponsesRequest } from '#contracts';
import type { ItemStore, WrittenBy } from './item-store.js';
import { asJson } from './json-object.js';
import type { ReserveMemory } from '../limits/reserve-memory.js';

/** A request whose references are replaced by what they mean. */
export interface ResolvedRequest {
  readonly body: ResponsesRequest;
  /** False when the body is the caller's own, untouched. */
  readonly changed: boolean;
  /** The items of this request alone, as the store keeps them. */
  readonly ownItems: readonly JsonValue[];
  /** Who wrote the response that it goes on with. */
  readonly continues?: WrittenBy | undefined;
}

/**
 * Puts the stored conversation in front of the input and stored items in place of references.
 *
 * @throws GatewayError `previous_response_not_found` or `item_not_found` (`param` is `input[i].id`); nothing is dropped. What
 * `reserve` throws.
 */
export async function resolveReferences(
  body: ResponsesRequest,
  accountId: string,
  store: ItemStore,
  reserve: ReserveMemory,
): Promise<ResolvedRequest> {
  const previous = body.previous_response_id ?? undefined;
  const sent: ResponsesItem[] =
    typeof body.input === 'string' ? [{ type: 'message', role: 'user', content: body.input }] : body.input;
  const references = sent.flatMap((item) => (item.type === 'item_reference' ? [item.id] : []));
  if (previous === undefined && references.length === 0) return { body, changed: false, ownItems: sent.map(asJson) };
  const [conversation, items] = await Promise.all([
    previous === undefined ? undefined : store.conversation(accountId, previous, reserve),
    references.length === 0 ? new Map<string, never>() : store.items(accountId, references, reserve),
  ]);
  const ownItems = sent.map((item, index): JsonValue => {
    if (item.type !== 'item_reference') return asJson(item);
    const found = items.get(item.id);
    if (found) return found;
    throw new GatewayError('item_not_found', `There is no stored item "${item.id}".`, { param: `input[${index}].id` });
  });
  const { previous_response_id: _resolved, ...rest } = body;
  // Stored items were checked when they came in, or are the gateway's own.
  const input = [...(conversation?.items ?? []), ...ownItems] as JsonValue[] & ResponsesItem[];
  return { body: { ...rest, input }, changed: true, ownItems, continues: conversation?.writtenBy };
}
