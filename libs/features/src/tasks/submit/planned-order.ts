import { familyOf, type ModelFamily, type ModelRequest, type PlannedOrder } from '#contracts';

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

/** An order as far as it is known before its files were looked at. `taskId`: empty while there is no task. */
export const plannedOrderOf = (
  taskId: string,
  family: ModelFamily,
  { model, medium, mode, parameters }: Pick<ModelRequest, 'model' | 'medium' | 'mode' | 'parameters'>,
  references: PlannedOrder['references'] = family.references(parameters),
): PlannedOrder => ({
  taskId,
  model,
  family: family.id,
  medium,
  mode,
  parameters,
  references,
  output: family.output(parameters),
});
