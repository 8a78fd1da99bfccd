import type { PlannedOrder } from '#contracts';
import { NotMakeable } from '../http/media-codec.js';

/** What a model makes a film from: a text alone, or pictures and films too. */
export type WanKind = 't2v' | 'i2v';

/** The vendor has one model for films from a text and another for films from pictures; in an entry `*` stands for either. */
export function wanModel(name: string, kind: WanKind): string {
  const other = kind === 't2v' ? 'i2v' : 't2v';
  if (name.includes(`-${other}`))
    throw new NotMakeable(
      undefined,
      kind === 't2v' ? 'This model makes films from pictures only.' : 'This model makes films from a text only.',
    );
  return name.replace('*', kind);
}

export const kindOf = ({ references }: PlannedOrder): WanKind =>
  references.some(({ medium }) => medium !== 'audio') ? 'i2v' : 't2v';

const MOST_SEED = 2 ** 31 - 1;

/** The family takes more seeds than the vendor; -1 is random there and absent here. */
export function wanSeed(seed: number | undefined): { seed?: number } {
  if (seed === undefined || seed === -1) return {};
  if (seed > MOST_SEED) throw new NotMakeable('seed', `seed is at most ${MOST_SEED} here.`);
  return { seed };
}

/** The vendor cuts a longer text off in silence. */
export function atMost(param: string, text: string | undefined, characters: number): void {
  if (text !== undefined && text.length > characters)
    throw new NotMakeable(param, `${param} has at most ${characters} characters here.`);
}
