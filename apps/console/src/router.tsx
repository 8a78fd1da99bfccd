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
import { day, oneOf, parseSearch, searchOf, type Shape, someOf, stringifySearch, words } from './api/search';
import { readyWords, type WordFile } from './messages/words';
import { Crashed, NotFound } from './shell/last-resort';
import { claimTab } from './shell/other-tabs';
import { Shell } from './shell/shell';

type Load<Name extends string> = () => Promise<Readonly<Record<Name, ComponentType>>>;

/** A page that is loaded when it is first shown, together with the words that it needs. */
const page = <Name extends string>(load: Load<Name>, name: Name, words: readonly WordFile[]) =>
  lazyRouteComponent(async () => {
    const [{ [name]: Page }] = await Promise.all([load(), readyWords(...words)]);
    return { default: Page };
  });

const root = createRootRoute({ component: Outlet, errorComponent: Crashed });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: searchOf({ to: words, error: words }),
  component: page(() => import('./pages/sign-in/sign-in'), 'SignInPage', ['signIn']),
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

const NOTHING = {};

/** A page below the shell. `shape`: what its address says of it. */
const below = <const Path extends string, Name extends string, Of extends Shape = typeof NOTHING>(
  path: Path,
  load: Load<Name>,
  name: Name,
  files: readonly WordFile[],
  shape: Of = NOTHING as Of,
) =>
  createRoute({
    getParentRoute: () => shell,
    path,
    component: page(load, name, files),
    validateSearch: searchOf(shape),
  });

const TASK_STATUSES = ['submitted', 'in_progress', 'completed', 'failed', 'cancelled'] as const;

const playground = createRoute({
  getParentRoute: () => shell,
  path: '/playground',
  // The fields of the model's form stand in the address too; the form reads those it knows.
  validateSearch: (raw: Record<string, unknown>): Record<string, string> & { model?: string } =>
    Object.fromEntries(Object.entries(raw).filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
  component: page(() => import('./pages/playground/playground'), 'PlaygroundPage', ['playground', 'tasks', 'money']),
});

const pages = [
  below('/', () => import('./pages/overview'), 'OverviewPage', ['overview', 'tasks', 'money']),
  playground,
  below('/tasks', () => import('./pages/tasks/tasks'), 'TasksPage', ['tasks', 'money'], {
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
  below('/tasks/$taskId', () => import('./pages/tasks/task'), 'TaskPage', ['tasks', 'money']),
  below('/usage', () => import('./pages/usage/usage'), 'UsagePage', ['money', 'tasks'], {
    from: day,
    to: day,
    by: someOf(['day', 'model', 'key', 'tag']),
    tag: words,
    records: oneOf(['true']),
    request_id: words,
  }),
  below('/agent-sessions', () => import('./pages/usage/agent-sessions'), 'AgentSessionsPage', ['money', 'tasks'], {
    session: words,
    text: words,
  }),
  below('/prompt-log', () => import('./pages/prompts/prompt-log'), 'PromptLogPage', ['prompts'], {
    session: words,
    request_id: words,
    entry: words,
  }),
  below('/billing', () => import('./pages/billing/billing'), 'BillingPage', ['money'], {
    task_id: words,
    request_id: words,
  }),
  below('/billing/entries/$entryId', () => import('./pages/billing/entry'), 'EntryPage', ['money']),
  below('/keys', () => import('./pages/keys/keys'), 'KeysPage', ['keys'], { create: oneOf(['true']) }),
  below('/keys/$keyId', () => import('./pages/keys/key'), 'KeyPage', ['keys']),
  below('/webhooks', () => import('./pages/webhooks/webhooks'), 'WebhooksPage', ['webhooks'], {
    task_id: words,
  }),
  below('/webhooks/deliveries/$deliveryId', () => import('./pages/webhooks/delivery'), 'DeliveryPage', ['webhooks']),
  below('/models', () => import('./pages/models/models'), 'ModelsPage', ['playground', 'money'], {
    kind: oneOf(['video', 'image', 'text', 'embedding']),
    name: words,
  }),
  below('/models/$model', () => import('./pages/models/model'), 'ModelPage', ['playground', 'money']),
  below('/account', () => import('./pages/account/account'), 'AccountPage', ['overview']),
  below('/admin/accounts', () => import('./pages/admin/accounts'), 'AccountsPage', ['admin'], {
    name: words,
  }),
  below('/admin/accounts/$accountId', () => import('./pages/admin/account'), 'AdminAccountPage', [
    'admin',
    'keys',
    'money',
    'selling',
  ]),
  below(
    '/admin/accounts/$accountId/prompt-log',
    () => import('./pages/prompts/prompt-log'),
    'AdminPromptLogPage',
    ['prompts', 'admin'],
    { session: words, request_id: words, entry: words },
  ),
  below('/admin/people', () => import('./pages/admin/people'), 'PeoplePage', ['admin', 'overview']),
  below('/admin/prices', () => import('./pages/prices/prices'), 'PricesPage', ['selling', 'admin', 'money'], {
    model: words,
    history: oneOf(['true']),
  }),
  below('/admin/prices/models/$model', () => import('./pages/prices/model-prices'), 'ModelPricesPage', [
    'selling',
    'admin',
    'money',
  ]),
  below('/admin/prices/lists', () => import('./pages/prices/lists'), 'PriceListsPage', ['selling'], {
    add: oneOf(['true']),
  }),
  below('/admin/prices/lists/$listId', () => import('./pages/prices/list'), 'PriceListPage', [
    'selling',
    'admin',
    'money',
  ]),
  below('/admin/prices/simulation', () => import('./pages/prices/simulation'), 'SimulationPage', ['selling'], {
    from: day,
    to: day,
    proposal: words,
    list: words,
  }),
  below(
    '/admin/prices/proposals',
    () => import('./pages/prices/proposals'),
    'ProposalsPage',
    ['selling', 'admin', 'money'],
    { read: oneOf(['true']), upstream: words },
  ),
  below(
    '/admin/prices/proposals/$proposalId',
    () => import('./pages/prices/proposal'),
    'ProposalPage',
    ['selling', 'admin', 'money'],
    { costs: oneOf(['true']) },
  ),
  below('/admin/upstreams', () => import('./pages/admin/upstreams'), 'UpstreamsPage', ['admin']),
  below('/admin/upstreams/$upstreamId', () => import('./pages/admin/upstream'), 'UpstreamPage', ['admin', 'selling']),
  below('/admin/health', () => import('./pages/admin/health'), 'HealthPage', ['admin', 'tasks', 'money']),
  below('/admin/workers', () => import('./pages/admin/workers'), 'WorkersPage', ['admin'], {
    all: oneOf(['true']),
  }),
  below('/admin/deliveries', () => import('./pages/admin/deliveries'), 'DeliveriesPage', ['admin', 'webhooks'], {
    status: oneOf(['pending', 'delivered', 'failed']),
    task_id: words,
    account_id: words,
    endpoint_id: words,
  }),
  below('/admin/tasks', () => import('./pages/admin/tasks'), 'AdminTasksPage', ['admin', 'tasks'], {
    status: oneOf(TASK_STATUSES),
    type: oneOf(['video', 'image']),
    state: words,
    model: words,
    account_id: words,
    api_key_id: words,
    error_code: words,
    task_id: words,
    request_id: words,
    vendor_id: words,
    vendor_request_id: words,
    created_from: words,
    created_to: words,
  }),
  below('/admin/tasks/$taskId', () => import('./pages/admin/task'), 'AdminTaskPage', [
    'admin',
    'tasks',
    'money',
    'webhooks',
  ]),
  below('/admin/margins', () => import('./pages/admin/margins'), 'MarginsPage', ['admin', 'money', 'selling'], {
    from: day,
    to: day,
    by: someOf(['day', 'upstream', 'model', 'account', 'kind', 'band', 'tag']),
  }),
  below(
    '/admin/agent-sessions',
    () => import('./pages/usage/agent-sessions'),
    'AdminAgentSessionsPage',
    ['admin', 'money', 'tasks'],
    { session: words, account_id: words, text: words },
  ),
  below('/admin/reconciliation', () => import('./pages/admin/reconciliation'), 'ReconciliationPage', ['admin']),
  below('/admin/audit', () => import('./pages/admin/audit'), 'AuditPage', ['admin'], {
    subject_id: words,
  }),
  // Every other address: only a signed-in user sees "not found".
  createRoute({ getParentRoute: () => shell, path: '$', component: NotFound }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([signIn, shell.addChildren(pages)]),
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
