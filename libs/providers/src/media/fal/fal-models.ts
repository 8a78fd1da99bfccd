import type { FalMapping } from './fal-mapping.js';
import { mapAlpha } from './map-alpha.js';
import { mapBeta25Preview } from './map-beta-2.5-preview.js';
import { mapBeta26 } from './map-beta-2.6.js';
import { mapBeta27, mapBeta27R2v } from './map-beta-2.7.js';
import { mapDelta } from './map-delta.js';
import { mapEpsilon } from './map-epsilon.js';
import { mapGamma } from './map-gamma.js';
import { mapEta, mapIota, mapIotaEdit, mapKappa, mapTheta } from './map-images.js';
import { mapZeta } from './map-zeta.js';

const SEEDREAM = 'fal-ai/bytedance/seedream/v4';

/** Public model to what all its endpoints at fal begin with, and how its orders are written. */
const MODELS: Readonly<Record<string, readonly [name: string, mapping: FalMapping]>> = {
  'alpha-2.0': ['bytedance/seedance-2.0', mapAlpha],
  'alpha-2.0-fast': ['bytedance/seedance-2.0/fast', mapAlpha],
  'beta-2.5-preview': ['fal-ai/wan-25-preview', mapBeta25Preview],
  'beta-2.6': ['wan/v2.6', mapBeta26],
  'beta-2.7': ['fal-ai/wan/v2.7', mapBeta27],
  'beta-2.7-r2v': ['fal-ai/wan/v2.7', mapBeta27R2v],
  'gamma-3.1-fast-official': ['fal-ai/veo3.1/fast', mapGamma],
  'gamma-3.1-quality-official': ['fal-ai/veo3.1', mapGamma],
  'delta-v2-6': ['fal-ai/kling-video/v2.6/pro', mapDelta],
  'epsilon-2.3': ['fal-ai/minimax/hailuo-2.3', mapEpsilon],
  'epsilon-2.3-Fast': ['fal-ai/minimax/hailuo-2.3-fast', mapEpsilon],
  'epsilon-02': ['fal-ai/minimax/hailuo-02', mapEpsilon],
  'zeta-q3-pro': ['fal-ai/vidu/q3', mapZeta],
  'zeta-q3-turbo': ['fal-ai/vidu/q3', mapZeta],
  'eta-image-2.0': ['fal-ai/qwen-image-2', mapEta],
  'eta-image-2.0-pro': ['fal-ai/qwen-image-2/pro', mapEta],
  'theta-image-turbo': ['fal-ai/z-image/turbo', mapTheta],
  'kappa-a-4-0': [SEEDREAM, mapKappa],
  'kappa-b-4.0': [SEEDREAM, mapKappa],
  'kappa-b-4-0': [SEEDREAM, mapKappa],
  'Kappa-B-4.0': [SEEDREAM, mapKappa],
  'iota-1.0-reseller': ['xai/grok-imagine-image', mapIota],
  'iota-1.0-edit-reseller': ['xai/grok-imagine-image', mapIotaEdit],
};

/** The 23 models of ours that fal makes. It has no faces of real people, and no references for zeta. */
export const FAL_MODELS: ReadonlyMap<string, string> = new Map(
  Object.entries(MODELS).map(([model, [name]]) => [model, name]),
);

export const falMappingOf = (model: string): FalMapping | undefined => MODELS[model]?.[1];
