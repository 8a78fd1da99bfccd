import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { ApiError } from './api/api-error';
import { queryClient, sessionQuery } from './api/queries';
import { day, oneOf, parseSearch, searchOf, someOf, stringifySearch, words } from './api/search';
import { Crashed, NotFound } from './shell/last-resort';
import { Shell } from './shell/shell';

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: Crashed });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: searchOf({ to: words, error: words }),
  component: lazyRouteComponent(() => import('./pages/sign-in/sign-in'), 'SignInPage'),
});

/** Every page that needs a session. Who has none is led to the sign-in and back. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ location }) => {
    try {
      await queryClient.ensureQueryData(sessionQuery);
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
  component: lazyRouteComponent(() => import('./pages/overview'), 'OverviewPage'),
});

const TASK_STATUSES = ['submitted', 'in_progress', 'completed', 'failed', 'cancelled'] as const;

const playground = createRoute({
  getParentRoute: () => shell,
  path: '/playground',
  // The fields of the model's form stand in the address too; the form reads those it knows.
  validateSearch: (raw: Record<string, unknown>): Record<string, string> & { model?: string } =>
    Object.fromEntries(Object.entries(raw).filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
  component: lazyRouteComponent(() => import('./pages/playground/playground'), 'PlaygroundPage'),
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
  component: lazyRouteComponent(() => import('./pages/tasks/tasks'), 'TasksPage'),
});

const task = createRoute({
  getParentRoute: () => shell,
  path: '/tasks/$taskId',
  component: lazyRouteComponent(() => import('./pages/tasks/task'), 'TaskPage'),
});

const usage = createRoute({
  getParentRoute: () => shell,
  path: '/usage',
  validateSearch: searchOf({ from: day, to: day, by: someOf(['day', 'model', 'key']) }),
  component: lazyRouteComponent(() => import('./pages/usage/usage'), 'UsagePage'),
});

const billing = createRoute({
  getParentRoute: () => shell,
  path: '/billing',
  validateSearch: searchOf({ task_id: words, request_id: words }),
  component: lazyRouteComponent(() => import('./pages/billing/billing'), 'BillingPage'),
});

const billingEntry = createRoute({
  getParentRoute: () => shell,
  path: '/billing/entries/$entryId',
  component: lazyRouteComponent(() => import('./pages/billing/entry'), 'EntryPage'),
});

const keys = createRoute({
  getParentRoute: () => shell,
  path: '/keys',
  validateSearch: searchOf({ create: oneOf(['true']) }),
  component: lazyRouteComponent(() => import('./pages/keys/keys'), 'KeysPage'),
});

const key = createRoute({
  getParentRoute: () => shell,
  path: '/keys/$keyId',
  component: lazyRouteComponent(() => import('./pages/keys/key'), 'KeyPage'),
});

const webhooks = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks',
  validateSearch: searchOf({ task_id: words }),
  component: lazyRouteComponent(() => import('./pages/webhooks/webhooks'), 'WebhooksPage'),
});

const delivery = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks/deliveries/$deliveryId',
  component: lazyRouteComponent(() => import('./pages/webhooks/delivery'), 'DeliveryPage'),
});

const models = createRoute({
  getParentRoute: () => shell,
  path: '/models',
  validateSearch: searchOf({ kind: oneOf(['video', 'image', 'text', 'embedding']), name: words }),
  component: lazyRouteComponent(() => import('./pages/models/models'), 'ModelsPage'),
});

const model = createRoute({
  getParentRoute: () => shell,
  path: '/models/$model',
  component: lazyRouteComponent(() => import('./pages/models/model'), 'ModelPage'),
});

const account = createRoute({
  getParentRoute: () => shell,
  path: '/account',
  component: lazyRouteComponent(() => import('./pages/account/account'), 'AccountPage'),
});

const adminAccounts = createRoute({
  getParentRoute: () => shell,
  path: '/admin/accounts',
  validateSearch: searchOf({ name: words }),
  component: lazyRouteComponent(() => import('./pages/admin/accounts'), 'AccountsPage'),
});

const adminAccount = createRoute({
  getParentRoute: () => shell,
  path: '/admin/accounts/$accountId',
  component: lazyRouteComponent(() => import('./pages/admin/account'), 'AdminAccountPage'),
});

const adminPeople = createRoute({
  getParentRoute: () => shell,
  path: '/admin/people',
  component: lazyRouteComponent(() => import('./pages/admin/people'), 'PeoplePage'),
});

const adminPrices = createRoute({
  getParentRoute: () => shell,
  path: '/admin/prices',
  validateSearch: searchOf({ model: words, history: oneOf(['true']) }),
  component: lazyRouteComponent(() => import('./pages/admin/prices'), 'PricesPage'),
});

const adminUpstreams = createRoute({
  getParentRoute: () => shell,
  path: '/admin/upstreams',
  component: lazyRouteComponent(() => import('./pages/admin/upstreams'), 'UpstreamsPage'),
});

const adminUpstream = createRoute({
  getParentRoute: () => shell,
  path: '/admin/upstreams/$upstreamId',
  component: lazyRouteComponent(() => import('./pages/admin/upstream'), 'UpstreamPage'),
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
  component: lazyRouteComponent(() => import('./pages/admin/tasks'), 'AdminTasksPage'),
});

const adminTask = createRoute({
  getParentRoute: () => shell,
  path: '/admin/tasks/$taskId',
  component: lazyRouteComponent(() => import('./pages/admin/task'), 'AdminTaskPage'),
});

const adminMargins = createRoute({
  getParentRoute: () => shell,
  path: '/admin/margins',
  validateSearch: searchOf({ from: day, to: day, by: someOf(['day', 'upstream', 'model']) }),
  component: lazyRouteComponent(() => import('./pages/admin/margins'), 'MarginsPage'),
});

const adminReconciliation = createRoute({
  getParentRoute: () => shell,
  path: '/admin/reconciliation',
  component: lazyRouteComponent(() => import('./pages/admin/reconciliation'), 'ReconciliationPage'),
});

const adminAudit = createRoute({
  getParentRoute: () => shell,
  path: '/admin/audit',
  validateSearch: searchOf({ subject_id: words }),
  component: lazyRouteComponent(() => import('./pages/admin/audit'), 'AuditPage'),
});

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
