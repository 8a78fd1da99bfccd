import type { ModelFamily, ModelRequest, PlannedOrder } from '#contracts';

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
