import { GatewayError } from '../errors.js';
import { isJsonObject } from '../json.js';

/** The weights of words and of meaning where chunks are ranked by both. At least one is above 0. */
export interface RankWeights {
  readonly words: number;
  readonly meaning: number;
}

/**
 * Reads `hybrid_search` of `ranking_options`: `{embedding_weight, text_weight}`, each from 0 to 1000 and not both 0.
 *
 * @returns undefined where it is left out.
 * @throws GatewayError `invalid_parameter`.
 */
export function readRankWeights(sent: unknown, param: string): RankWeights | undefined {
  if (sent === undefined || sent === null) return undefined;
  const { embedding_weight: meaning = 0, text_weight: words = 0 } = isJsonObject(sent) ? sent : {};
  const areNumbers = isJsonObject(sent) && isWeight(meaning) && isWeight(words);
  if (areNumbers && meaning + words > 0) return { words, meaning };
  const rule = 'an object with embedding_weight and text_weight, numbers from 0 to 1000 of which one is above 0';
  throw new GatewayError('invalid_parameter', `${param} must be ${rule}.`, { param });
}

const isWeight = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1_000;
