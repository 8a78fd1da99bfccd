import { eta } from './image-families/eta.js';
import type { SubmissionPath } from './media-order.js';
import type { ModelFamily } from './model-family.js';
import { beta25Preview } from './video-families/beta-2.5-preview.js';

/** The families of D2, in the order of its sections. */
export const VIDEO_FAMILIES = [beta25Preview] as const;

/** The families of D3, in the order of its sections. */
export const IMAGE_FAMILIES = [eta] as const;

/** Every media family there is. A new family is one file and one line above. */
export const CATALOG = [...VIDEO_FAMILIES, ...IMAGE_FAMILIES] as const;

/** Any entry of the catalogue. */
type CatalogFamily = (typeof CATALOG)[number];

/** Every media model identifier. */
export type ModelId = CatalogFamily['models'][number];

/** The price variants of one model. */
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

/** The families a submission path serves. */
export const familiesAt = (path: SubmissionPath): readonly ModelFamily[] =>
  CATALOG.filter((family: ModelFamily) => family.path === path);
