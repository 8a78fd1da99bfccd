export { AdminToken, renewAdminToken } from './admin-token.js';
export { backUp, restore } from './backup/backup-place.js';
export { parentProcess } from './children/parent-process.js';
export { runChildren, startChildren } from './children/run-children.js';
export { type ProcessConfig, readProcessConfig } from './config/process-config.js';
export { SalesConfig, sandboxSells } from './config/sales.config.js';
export {
  CRASH_POINTS,
  type Failpoint,
  type Failpoints,
  FILE_CRASH_POINTS,
  noFailpoints,
} from './failpoints/failpoints.js';
export { onPlatform, withDatabase } from './on-platform.js';
export { openPlatform, type Platform, publicBaseUrl } from './platform.js';
export {
  FAILPOINTS,
  KEY_PEPPER,
  MEDIA_STORE,
  PLATFORM,
  PlatformModule,
  SANDBOX_MAY_SELL,
  TASK_NOTIFIER,
  TASK_SIGNALS,
} from './platform.module.js';
export { createTaskNotifier } from './queue/create-task-notifier.js';
export type { WakeupQueue, Listening, TaskNotifier } from './queue/task-notifier.js';
export { printForPeople, type RunningProcess, runProcess } from './run-process.js';
export type { TaskSignals } from './task-signals/task-signals.js';
export { createWorker, type Worker, workerId } from './worker.js';
