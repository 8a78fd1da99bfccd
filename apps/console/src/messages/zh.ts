import type { Messages } from './en';
import { admin } from './zh/admin';
import { common, failures, product, status } from './zh/common';
import { fieldNotes } from './zh/field-notes';
import { modelSummaries } from './zh/model-summaries';
import { keys } from './zh/keys';
import { money } from './zh/money';
import { account, overview } from './zh/overview';
import { models, playground } from './zh/playground';
import { roles, shell, signIn } from './zh/shell';
import { tasks } from './zh/tasks';
import { webhooks } from './zh/webhooks';

export const zh = {
  product,
  common,
  status,
  failures,
  shell,
  signIn,
  roles,
  overview,
  account,
  keys,
  tasks,
  playground,
  fieldNotes,
  modelSummaries,
  models,
  money,
  webhooks,
  admin,
} satisfies Messages;
