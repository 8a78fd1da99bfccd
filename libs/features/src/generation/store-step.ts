import type { MediaProvider, ProviderOutput } from '#contracts';
import { extensionOf, inspectStoredFile, type MediaStore, type SafeFetcher, type StoredFile } from '#platform';
import type { MediaProviderRegistry } from '#providers';
import { catalogFamily } from '../tasks/catalog-family.js';
import type { TaskRow } from '../tasks/task-row.js';
import { chargeFor, deliveredQuantity } from './charge.js';
import type { SettledFile, SettleTaskService } from './settle-task.service.js';

/** The largest result that is accepted from a vendor, and the longest its transfer may take. */
const RESULT_LIMITS = { maxBytes: 2 * 1024 ** 3, timeoutMs: 10 * 60_000 } as const;

/** Copies what the vendor made into our store, proves it readable, and settles the task. Safe to repeat: keys are fixed. */
export class StoreStep {
  constructor(
    private readonly settlement: SettleTaskService,
    private readonly providers: MediaProviderRegistry,
    private readonly store: MediaStore,
    private readonly fetcher: SafeFetcher,
  ) {}

  /** @throws MediaStoreError, FetchFailed, FetchRefused or MediaUnreadable: the step may be tried again. */
  async run(task: TaskRow, signal: AbortSignal): Promise<void> {
    const outputs = task.outputs ?? [];
    const provider = this.providers.providerById(task.provider ?? '');
    const files: SettledFile[] = [];
    for (const [ordinal, output] of outputs.entries()) {
      const key = `media/${task.id}/${ordinal}.${extensionOf(output.contentType)}`;
      files.push(await this.measured(output, ordinal, await this.copy(provider, output, key, signal)));
    }
    const family = catalogFamily(task.model);
    const plan = family.output(task.parameters);
    const delivered = outputs.filter(({ role }) => role === 'output').length;
    await this.settlement.complete(task, {
      chargeMicros: chargeFor(task, plan, delivered),
      quantity: deliveredQuantity(plan, delivered),
      files,
      resultTtlSeconds: family.resultTtlSeconds,
    });
  }

  private async copy(
    provider: MediaProvider,
    output: ProviderOutput,
    key: string,
    signal: AbortSignal,
  ): Promise<StoredFile> {
    const { contentType } = output;
    const { maxBytes } = RESULT_LIMITS;
    if (provider.open)
      return this.store.put(key, await provider.open(output, signal), { contentType, maxBytes, signal });
    const { body, headers } = await this.fetcher.get(output.url, { ...RESULT_LIMITS, signal });
    const announced = headers['content-length'];
    const expectedBytes = announced === undefined ? undefined : Number(announced);
    return this.store.put(key, body, { contentType, maxBytes, expectedBytes, signal });
  }

  /** Reads the header back from the store, so that a file nobody can open never counts as delivered. */
  private async measured(output: ProviderOutput, ordinal: number, file: StoredFile): Promise<SettledFile> {
    const header = await inspectStoredFile(this.store, file);
    return {
      ordinal,
      role: output.role,
      storeKey: file.key,
      contentType: output.contentType,
      bytes: file.bytes,
      sha256: file.sha256,
      width: header.medium === 'audio' ? null : header.width,
      height: header.medium === 'audio' ? null : header.height,
      durationMs: header.medium === 'image' ? null : Math.round(header.durationSeconds * 1000),
    };
  }
}
