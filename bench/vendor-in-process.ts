import { Readable } from 'node:stream';
import type { Operation, OperationState, Started } from '#contracts';
import { pngSample } from '#testing';
import { PlainUpstream } from '#vendor-fakes';

const IMAGE = pngSample({ width: 64, height: 64 });

/** A vendor without a network: what it is asked costs nothing, so that only the gateway's own work is measured. */
export class VendorInProcess extends PlainUpstream {
  /** How often it was asked how an order goes. */
  checks = 0;
  /** Orders handed over, with the time of each in milliseconds. */
  readonly started = new Map<string, number>();

  /** `startMs`: how long it takes an order; `doneAt`: when an order is finished, in milliseconds of the epoch. */
  constructor(
    private readonly startMs: number,
    private readonly doneAt: (taskId: string) => number,
  ) {
    super();
  }

  async start({ taskId }: { readonly taskId: string }): Promise<Started> {
    await new Promise((resolve) => setTimeout(resolve, this.startMs));
    this.started.set(taskId, Date.now());
    return { kind: 'operation', operation: { task_id: taskId } };
  }

  async check(operation: Operation): Promise<OperationState> {
    this.checks += 1;
    if (Date.now() < this.doneAt(operation['task_id'] as string)) return { state: 'pending' };
    return { state: 'succeeded', outputs: [{ role: 'output', contentType: 'image/png', url: 'bench:image' }] };
  }

  async open(): Promise<Readable> {
    return Readable.from([IMAGE], { objectMode: false });
  }
}
