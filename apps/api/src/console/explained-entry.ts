import type { ConsoleEntryExplained } from '#contracts';
import type { AccountEntriesService, AccountEntryRow, KeysService, PricesService } from '#features';
import { entryOf, rowOf } from './views.js';

const RELATED_SHOWN = 100;

/** Where an explanation comes from. */
interface Sources {
  readonly entries: AccountEntriesService;
  readonly keys: KeysService;
  readonly prices: PricesService;
  readonly accountId: string;
}

/** An entry with all that belongs to the same work: hold, capture and release stand beside each other. */
export async function explained(
  row: AccountEntryRow,
  { entries, keys, prices, accountId }: Sources,
): Promise<ConsoleEntryExplained> {
  const { task_id: taskId, request_id: requestId, api_key_id: keyId } = row;
  const isWork = taskId !== null || requestId !== null;
  const query = { accountId, taskId, requestId: taskId === null ? requestId : null };
  const page = isWork ? await entries.list(query, { limit: RELATED_SHOWN, cursor: null }) : { items: [row] };
  const related = page.items.some(({ id }) => id === row.id) ? page.items : [...page.items, row];
  const shown = related.map(entryOf).toSorted((one, other) => Number(BigInt(one.id) - BigInt(other.id)));
  const priceIds = shown.flatMap(({ usage }) => usage?.lines.flatMap(({ price_id }) => price_id ?? []) ?? []);
  return {
    entry: entryOf(row),
    related: shown,
    key_name: keyId === null ? null : (await keys.read(keyId)).name,
    prices: (await prices.named([...new Set(priceIds)])).map(rowOf<ConsoleEntryExplained['prices'][number]>),
  };
}
