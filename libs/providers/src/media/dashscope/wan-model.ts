import type { PlannedOrder } from '#contracts';
import { NotMakeable } from '../http/media-codec.js';

/** What a model makes a video from: a text alone, or images and videos too. */
export type WanKind = 't2v' | 'i2v';

/** The vendor has one model for videos from a text and another for videos from images; in an entry `*` stands for either. */
export function wanModel(name: string, kind: WanKind): string {
  const other = kind === 't2v' ? 'i2v' : 't2v';
  if (name.includes(`-${other}`))
    throw new NotMakeable(
      undefined,
      kind === 't2v' ? 'This model makes videos only from images.' : 'This model makes videos only from text.',
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
