/** The longest that long work keeps everything else waiting, in milliseconds. */
const TURN_MS = 8;

/** Measures how long work has continued without letting others run. */
export class Turns {
  private since = performance.now();

  /** True when it is time to let others run. */
  get isOver(): boolean {
    return performance.now() - this.since > TURN_MS;
  }

  begin(): void {
    this.since = performance.now();
  }
}

const waiting: (() => void)[] = [];

/**
 * Lets everything else that is waiting run once. One waiting caller continues in each round of the event loop: together they delay
 * other work no longer than one of them alone. Long work asks before it begins too.
 */
export async function nextTurn(turns?: Turns): Promise<void> {
  await new Promise<void>((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(letOneGoOn);
  });
  turns?.begin();
}

function letOneGoOn(): void {
  const goOn = waiting.shift();
  // One that is requested within a round comes in the next.
  if (waiting.length > 0) setImmediate(letOneGoOn);
  goOn?.();
}
