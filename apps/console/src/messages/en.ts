import { admin } from './en/admin';
import { common, failures, product, status } from './en/common';
import { keys } from './en/keys';
import { money } from './en/money';
import { account, overview } from './en/overview';
import { models, playground } from './en/playground';
import { roles, shell, signIn } from './en/shell';
import { tasks } from './en/tasks';
import { webhooks } from './en/webhooks';

/** Every sentence of the console. English is the measure: another language that lacks one does not compile. */
export const en = {
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
  /** What the catalogue says of fields, by its own English words. Here they are these words. */
  fieldNotes: {} as Readonly<Record<string, string>>,
  modelSummaries: {} as Readonly<Record<string, string>>,
  models,
  money,
  webhooks,
  admin,
};

export type Messages = typeof en;
