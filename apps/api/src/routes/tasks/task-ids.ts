import { GatewayError } from '#contracts';

const TASK_IDS_MAX = 100;

/**
 * Reads `{ "task_ids": ["task_…", …] }`; an id that stands twice counts once.
 *
 * @throws GatewayError naming the field and the rule.
 */
export function readTaskIds(body: unknown): string[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new GatewayError('invalid_parameter', 'The body must be a JSON object.');
  }
  const unknown = Object.keys(body).find((name) => name !== 'task_ids');
  if (unknown !== undefined) {
    const message = `${unknown.slice(0, 64)} is not a field of this request: only task_ids is.`;
    throw new GatewayError('unknown_parameter', message, { param: unknown.slice(0, 64) });
  }
  const taskIds: unknown = 'task_ids' in body ? body.task_ids : undefined;
  const fits = Array.isArray(taskIds) && taskIds.length >= 1 && taskIds.length <= TASK_IDS_MAX;
  if (!fits || !taskIds.every((taskId) => typeof taskId === 'string')) {
    const message = `task_ids must be a list of 1 to ${TASK_IDS_MAX} task ids.`;
    throw new GatewayError('invalid_parameter', message, { param: 'task_ids' });
  }
  return [...new Set<string>(taskIds)];
}
