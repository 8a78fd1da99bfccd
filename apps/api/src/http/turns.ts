import { setImmediate as immediately } from 'node:timers/promises';

/** The longest that long work keeps everything else waiting, in milliseconds. */
const TURN_MS = 8;

/** Measures how long work has gone on without letting others run. */
export class Turns {
  #since = performance.now();

  /** True when it is time to let others run. */
  get isOver(): boolean {
    return performance.now() - this.#since > TURN_MS;
  }

  begin(): void {
    this.#since = performance.now();
  }
}

/** Lets everything else that is waiting run once. */
export async function nextTurn(turns?: Turns): Promise<void> {
  await immediately();
  turns?.begin();
}
