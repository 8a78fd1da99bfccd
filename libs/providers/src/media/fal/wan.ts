import { refuseIf, refuseLonger } from '../http/mapping.js';

/** The largest seed of the Wan models. */
const MAX_SEED = 2_147_483_647;
const MAX_NEGATIVE_PROMPT = 500;
/** Longest prompt of Wan 2.5 and 2.6, in characters. */
const MAX_PROMPT = 1_500;

/** What all Wan endpoints of fal lack. @throws NotMakeable */
export function refuseLackingOfWan(asked: { watermark?: boolean; seed?: number; negative_prompt?: string }): void {
  refuseIf(asked.watermark === true, 'watermark', 'watermark must be false: no watermark is made here.');
  refuseIf((asked.seed ?? 0) > MAX_SEED, 'seed', `seed must be ${MAX_SEED} or less here.`);
  refuseLonger('negative_prompt', asked.negative_prompt, MAX_NEGATIVE_PROMPT);
}

/** Wan 2.5 and 2.6 take a short prompt, and none of their endpoints does without. @throws NotMakeable */
export function refusePromptOfWan(prompt: string | undefined): void {
  refuseIf(prompt === undefined, 'prompt', 'prompt is required for this model here.');
  refuseLonger('prompt', prompt, MAX_PROMPT);
}
