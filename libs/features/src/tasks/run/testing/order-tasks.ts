import type { ClaimedTask } from '../../task-row.js';
import type { TaskBench } from './task-bench.js';

const never = new AbortController().signal;

/** Claims a task and hands it over; answers the state that it has then. */
export async function attempt(bench: TaskBench, taskId: string): Promise<string> {
  await bench.start.run(await bench.claim(taskId), never);
  return (await bench.row(taskId)).state;
}

/** Submits a task and hands it over. */
export async function order(bench: TaskBench): Promise<[taskId: string, state: string]> {
  const taskId = await bench.submit();
  return [taskId, await attempt(bench, taskId)];
}

/** Claims so many tasks, and then hands them over at the same time; answers their states. */
export async function orderTogether(bench: TaskBench, times: number): Promise<string[]> {
  const claimed: ClaimedTask[] = [];
  for (let turn = 0; turn < times; turn += 1) claimed.push(await bench.claim(await bench.submit()));
  await Promise.all(claimed.map((task) => bench.start.run(task, never)));
  return Promise.all(claimed.map(async ({ id }) => (await bench.row(id)).state));
}
