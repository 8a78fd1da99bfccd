import { eta } from './image-families/eta.js';
import { iotaEdit } from './image-families/iota-edit.js';
import { iota } from './image-families/iota.js';
import { kappa } from './image-families/kappa.js';
import { theta } from './image-families/theta.js';
import type { SubmissionPath } from './media-order.js';
import type { ModelFamily } from './model-family.js';
import { alpha } from './video-families/alpha.js';
import { beta25Preview } from './video-families/beta-2.5-preview.js';
import { beta26 } from './video-families/beta-2.6.js';
import { beta27R2v } from './video-families/beta-2.7-r2v.js';
import { beta27 } from './video-families/beta-2.7.js';
import { deltaV26 } from './video-families/delta-v2-6.js';
import { epsilon02 } from './video-families/epsilon-02.js';
import { epsilon23 } from './video-families/epsilon-2.3.js';
import { gamma } from './video-families/gamma.js';
import { zetaQ3Pro } from './video-families/zeta-q3-pro.js';
import { zetaQ3 } from './video-families/zeta-q3.js';

/** All video families, in the order in which documents and lists name them. */
export const VIDEO_FAMILIES = [
  alpha,
  beta27,
  beta27R2v,
  gamma,
  beta25Preview,
  beta26,
  deltaV26,
  epsilon23,
  epsilon02,
  zetaQ3Pro,
  zetaQ3,
] as const;

/** All image families, in the same kind of order. */
export const IMAGE_FAMILIES = [eta, theta, iota, iotaEdit, kappa] as const;

/** Every media family there is. A new family is one file and one line above. */
export const CATALOG = [...VIDEO_FAMILIES, ...IMAGE_FAMILIES] as const;

/** Any entry of the catalogue. */
type CatalogFamily = (typeof CATALOG)[number];

/** Every media model identifier. */
export type ModelId = CatalogFamily['models'][number];

export type VariantOf<Model extends ModelId> = CatalogFamily extends infer Family
  ? Family extends { readonly variants: Readonly<Record<Model, readonly (infer Variant extends string)[]>> }
    ? Variant
    : never
  : never;

const FAMILIES: ReadonlyMap<string, ModelFamily> = new Map(
  CATALOG.flatMap((family: ModelFamily) => family.models.map((model) => [model, family] as const)),
);

/** All media model identifiers, in catalogue order. */
export const MODEL_IDS = CATALOG.flatMap<ModelId>((family) => [...family.models]);

/** The family of a model, or undefined when no family has it. Identifiers match exactly. */
export const familyOf = (model: string): ModelFamily | undefined => FAMILIES.get(model);

export const familiesAt = (path: SubmissionPath): readonly ModelFamily[] =>
  CATALOG.filter((family: ModelFamily) => family.path === path);
