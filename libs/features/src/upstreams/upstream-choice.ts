import { createHash } from 'node:crypto';
import { GatewayError } from '#contracts';

/** Whether the built-in sandbox makes everything, may not sell it, or is not used because an upstream is configured. */
export type SandboxPart = 'makes' | 'forbidden' | 'inactive';

/** Where an upstream stands among those that could take the same work. */
export interface Place {
  /** Lower numbers are asked first; higher ones only when all lower have failed. */
  readonly priority: number;
  /** Share of the work within its priority; 0 takes none. */
  readonly weight: number;
}

/**
 * In the order to ask them: by priority, and shuffled by weight within one, without replacement. Each draws a time, and heavier
 * ones tend to earlier ones.
 *
 * @param draw a number from 0 to 1, 1 excluded: by chance, or always the same for the same candidate.
 */
export function weightedOrder<Candidate>(
  candidates: readonly Candidate[],
  placeOf: (candidate: Candidate) => Place,
  draw: (candidate: Candidate) => number = Math.random,
): readonly Candidate[] {
  if (candidates.length < 2) return candidates;
  return candidates
    .map((candidate) => {
      const { priority, weight } = placeOf(candidate);
      return { candidate, priority, time: -Math.log(1 - draw(candidate)) / weight };
    })
    .toSorted((one, other) => one.priority - other.priority || one.time - other.time)
    .map(({ candidate }) => candidate);
}

/** 48 bits of a hash as a number from 0 to 1, 1 excluded: what one process draws so, every other does too. */
export const drawnBy = (key: string, name: string): number =>
  createHash('sha256').update(`${key} ${name}`).digest().readUIntBE(0, 6) / 2 ** 48;

/** Nothing in the request can be changed to make it pass, and waiting does not help either. */
export const notAvailable = (model: string): GatewayError =>
  new GatewayError('model_not_available', `The model "${model}" is not available here: no upstream makes it.`, {
    param: 'model',
    log: `only the sandbox makes ${model}; name an upstream, or set SANDBOX_BILLING_ENABLED=true`,
  });
