import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { ApiError } from './api/api-error';
import { queryClient, sessionQuery } from './api/queries';
import { day, oneOf, parseSearch, searchOf, someOf, stringifySearch, words } from './api/search';
import { readyWords, type WordFile } from './messages/words';
import { Crashed, NotFound } from './shell/last-resort';
import { claimTab } from './shell/other-tabs';
import { Shell } from './shell/shell';

/** A page that is loaded when it is first shown, together with the words that it needs. */
const page = <Name extends string>(
  load: () => Promise<Readonly<Record<Name, ComponentType>>>,
  name: Name,
  ...words: readonly WordFile[]
) =>
  lazyRouteComponent(async () => {
    const [{ [name]: Page }] = await Promise.all([load(), readyWords(...words)]);
    return { default: Page };
  });

const root = createRootRoute({ component: Outlet, errorComponent: Crashed });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: searchOf({ to: words, error: words }),
  component: page(() => import('./pages/sign-in/sign-in'), 'SignInPage', 'signIn'),
});

/** Every page that needs a session. A visitor without one is sent to the sign-in and back. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ location }) => {
    try {
      claimTab(await queryClient.ensureQueryData(sessionQuery));
    } catch (failure) {
      if (!(failure instanceof ApiError) || failure.status !== 401) throw failure;
      throw redirect({
        to: '/sign-in',
        search: location.pathname === '/' ? {} : { to: location.publicHref },
        replace: true,
      });
    }
  },
});

const overview = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: page(() => import('./pages/overview'), 'OverviewPage', 'overview', 'tasks', 'money'),
});

const TASK_STATUSES = ['submitted', 'in_progress', 'completed', 'failed', 'cancelled'] as const;

const playground = createRoute({
  getParentRoute: () => shell,
  path: '/playground',
  // The fields of the model's form stand in the address too; the form reads those it knows.
  validateSearch: (raw: Record<string, unknown>): Record<string, string> & { model?: string } =>
    Object.fromEntries(Object.entries(raw).filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
  component: page(() => import('./pages/playground/playground'), 'PlaygroundPage', 'playground', 'tasks', 'money'),
});

const tasks = createRoute({
  getParentRoute: () => shell,
  path: '/tasks',
  validateSearch: searchOf({
    status: oneOf(TASK_STATUSES),
    type: oneOf(['video', 'image']),
    model: words,
    key: words,
    from: day,
    to: day,
    text: words,
    view: oneOf(['gallery', 'table']),
    task: words,
    compare: words,
  }),
  component: page(() => import('./pages/tasks/tasks'), 'TasksPage', 'tasks', 'money'),
});

const task = createRoute({
  getParentRoute: () => shell,
  path: '/tasks/$taskId',
  component: page(() => import('./pages/tasks/task'), 'TaskPage', 'tasks', 'money'),
});

const usage = createRoute({
  getParentRoute: () => shell,
  path: '/usage',
  validateSearch: searchOf({ from: day, to: day, by: someOf(['day', 'model', 'key']), records: oneOf(['true']) }),
  component: page(() => import('./pages/usage/usage'), 'UsagePage', 'money', 'tasks'),
});

const billing = createRoute({
  getParentRoute: () => shell,
  path: '/billing',
  validateSearch: searchOf({ task_id: words, request_id: words }),
  component: page(() => import('./pages/billing/billing'), 'BillingPage', 'money'),
});

const billingEntry = createRoute({
  getParentRoute: () => shell,
  path: '/billing/entries/$entryId',
  component: page(() => import('./pages/billing/entry'), 'EntryPage', 'money'),
});

const keys = createRoute({
  getParentRoute: () => shell,
  path: '/keys',
  validateSearch: searchOf({ create: oneOf(['true']) }),
  component: page(() => import('./pages/keys/keys'), 'KeysPage', 'keys'),
});

const key = createRoute({
  getParentRoute: () => shell,
  path: '/keys/$keyId',
  component: page(() => import('./pages/keys/key'), 'KeyPage', 'keys'),
});

const webhooks = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks',
  validateSearch: searchOf({ task_id: words }),
  component: page(() => import('./pages/webhooks/webhooks'), 'WebhooksPage', 'webhooks'),
});

const delivery = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks/deliveries/$deliveryId',
  component: page(() => import('./pages/webhooks/delivery'), 'DeliveryPage', 'webhooks'),
});

const models = createRoute({
  getParentRoute: () => shell,
  path: '/models',
  validateSearch: searchOf({ kind: oneOf(['video', 'image', 'text', 'embedding']), name: words }),
  component: page(() => import('./pages/models/models'), 'ModelsPage', 'playground', 'money'),
});

const model = createRoute({
  getParentRoute: () => shell,
  path: '/models/$model',
  component: page(() => import('./pages/models/model'), 'ModelPage', 'playground', 'money'),
});

const account = createRoute({
  getParentRoute: () => shell,
  path: '/account',
  component: page(() => import('./pages/account/account'), 'AccountPage', 'overview'),
});

const adminAccounts = createRoute({
  getParentRoute: () => shell,
  path: '/admin/accounts',
  validateSearch: searchOf({ name: words }),
  component: page(() => import('./pages/admin/accounts'), 'AccountsPage', 'admin'),
});

const adminAccount = createRoute({
  getParentRoute: () => shell,
  path: '/admin/accounts/$accountId',
  component: page(() => import('./pages/admin/account'), 'AdminAccountPage', 'admin', 'keys', 'money'),
});

const adminPeople = createRoute({
  getParentRoute: () => shell,
  path: '/admin/people',
  component: page(() => import('./pages/admin/people'), 'PeoplePage', 'admin', 'overview'),
});

const adminPrices = createRoute({
  getParentRoute: () => shell,
  path: '/admin/prices',
  validateSearch: searchOf({ model: words, history: oneOf(['true']) }),
  component: page(() => import('./pages/admin/prices'), 'PricesPage', 'admin', 'money'),
});

const adminUpstreams = createRoute({
  getParentRoute: () => shell,
  path: '/admin/upstreams',
  component: page(() => import('./pages/admin/upstreams'), 'UpstreamsPage', 'admin'),
});

const adminUpstream = createRoute({
  getParentRoute: () => shell,
  path: '/admin/upstreams/$upstreamId',
  component: page(() => import('./pages/admin/upstream'), 'UpstreamPage', 'admin'),
});

const adminTasks = createRoute({
  getParentRoute: () => shell,
  path: '/admin/tasks',
  validateSearch: searchOf({
    status: oneOf(TASK_STATUSES),
    type: oneOf(['video', 'image']),
    model: words,
    account_id: words,
    error_code: words,
  }),
  component: page(() => import('./pages/admin/tasks'), 'AdminTasksPage', 'admin', 'tasks'),
});

const adminTask = createRoute({
  getParentRoute: () => shell,
  path: '/admin/tasks/$taskId',
  component: page(() => import('./pages/admin/task'), 'AdminTaskPage', 'admin', 'tasks', 'money'),
});

const adminMargins = createRoute({
  getParentRoute: () => shell,
  path: '/admin/margins',
  validateSearch: searchOf({ from: day, to: day, by: someOf(['day', 'upstream', 'model']) }),
  component: page(() => import('./pages/admin/margins'), 'MarginsPage', 'admin', 'money'),
});

const adminReconciliation = createRoute({
  getParentRoute: () => shell,
  path: '/admin/reconciliation',
  component: page(() => import('./pages/admin/reconciliation'), 'ReconciliationPage', 'admin'),
});

const adminAudit = createRoute({
  getParentRoute: () => shell,
  path: '/admin/audit',
  validateSearch: searchOf({ subject_id: words }),
  component: page(() => import('./pages/admin/audit'), 'AuditPage', 'admin'),
});

/** Every other address: only a signed-in user sees "not found". */
const nowhere = createRoute({ getParentRoute: () => shell, path: '$', component: NotFound });

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    shell.addChildren([
      overview,
      playground,
      tasks,
      task,
      usage,
      billing,
      billingEntry,
      keys,
      key,
      webhooks,
      delivery,
      models,
      model,
      account,
      adminAccounts,
      adminAccount,
      adminPeople,
      adminPrices,
      adminUpstreams,
      adminUpstream,
      adminTasks,
      adminTask,
      adminMargins,
      adminReconciliation,
      adminAudit,
      nowhere,
    ]),
  ]),
  basepath: '/console',
  parseSearch,
  stringifySearch,
  search: { strict: true },
  scrollRestoration: true,
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: Crashed,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
