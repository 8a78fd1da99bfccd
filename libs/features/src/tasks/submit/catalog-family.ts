import { familyOf, type ModelFamily } from '#contracts';

/**
 * The family of a model that a request or a task row names.
 *
 * @throws Error when the catalogue does not have it: the model was withdrawn while tasks of it were open.
 */
export function catalogFamily(model: string): ModelFamily {
  const family = familyOf(model);
  if (!family) throw new Error(`the catalogue has no model "${model}"`);
  return family;
}
