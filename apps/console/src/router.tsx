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

/** A page below the shell. */
const below = <const Path extends string, Name extends string>(
  path: Path,
  load: Load<Name>,
  name: Name,
  files: readonly WordFile[],
) => createRoute({ getParentRoute: () => shell, path, component: page(load, name, files) });

/** One whose address says what it shows. */
const searchable = <const Path extends string, Name extends string, Of extends Shape>(
  path: Path,
  load: Load<Name>,
  name: Name,
  files: readonly WordFile[],
  shape: Of,
) =>
  createRoute({
    getParentRoute: () => shell,
    path,
    component: page(load, name, files),
    validateSearch: searchOf(shape),
  });

const overview = below('/', () => import('./pages/overview'), 'OverviewPage', ['overview', 'tasks', 'money']);

const TASK_STATUSES = ['submitted', 'in_progress', 'completed', 'failed', 'cancelled'] as const;

const playground = createRoute({
  getParentRoute: () => shell,
  path: '/playground',
  // The fields of the model's form stand in the address too; the form reads those it knows.
  validateSearch: (raw: Record<string, unknown>): Record<string, string> & { model?: string } =>
    Object.fromEntries(Object.entries(raw).filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
  component: page(() => import('./pages/playground/playground'), 'PlaygroundPage', ['playground', 'tasks', 'money']),
});

const tasks = searchable('/tasks', () => import('./pages/tasks/tasks'), 'TasksPage', ['tasks', 'money'], {
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
});

const task = below('/tasks/$taskId', () => import('./pages/tasks/task'), 'TaskPage', ['tasks', 'money']);
const usage = searchable('/usage', () => import('./pages/usage/usage'), 'UsagePage', ['money', 'tasks'], {
  from: day,
  to: day,
  by: someOf(['day', 'model', 'key', 'tag']),
  tag: words,
  records: oneOf(['true']),
  request_id: words,
});

const agentSessions = searchable(
  '/agent-sessions',
  () => import('./pages/usage/agent-sessions'),
  'AgentSessionsPage',
  ['money', 'tasks'],
  { session: words, text: words },
);
const billing = searchable('/billing', () => import('./pages/billing/billing'), 'BillingPage', ['money'], {
  task_id: words,
  request_id: words,
});
const billingEntry = below('/billing/entries/$entryId', () => import('./pages/billing/entry'), 'EntryPage', ['money']);
const keys = searchable('/keys', () => import('./pages/keys/keys'), 'KeysPage', ['keys'], { create: oneOf(['true']) });
const key = below('/keys/$keyId', () => import('./pages/keys/key'), 'KeyPage', ['keys']);
const webhooks = searchable('/webhooks', () => import('./pages/webhooks/webhooks'), 'WebhooksPage', ['webhooks'], {
  task_id: words,
});
const delivery = below('/webhooks/deliveries/$deliveryId', () => import('./pages/webhooks/delivery'), 'DeliveryPage', [
  'webhooks',
]);
const models = searchable('/models', () => import('./pages/models/models'), 'ModelsPage', ['playground', 'money'], {
  kind: oneOf(['video', 'image', 'text', 'embedding']),
  name: words,
});
const model = below('/models/$model', () => import('./pages/models/model'), 'ModelPage', ['playground', 'money']);
const account = below('/account', () => import('./pages/account/account'), 'AccountPage', ['overview']);
const adminAccounts = searchable('/admin/accounts', () => import('./pages/admin/accounts'), 'AccountsPage', ['admin'], {
  name: words,
});
const adminAccount = below('/admin/accounts/$accountId', () => import('./pages/admin/account'), 'AdminAccountPage', [
  'admin',
  'keys',
  'money',
  'selling',
]);
const adminPromptLog = searchable(
  '/admin/accounts/$accountId/prompt-log',
  () => import('./pages/prompts/prompt-log'),
  'AdminPromptLogPage',
  ['prompts', 'admin'],
  { session: words, request_id: words, entry: words },
);
const promptLog = searchable('/prompt-log', () => import('./pages/prompts/prompt-log'), 'PromptLogPage', ['prompts'], {
  session: words,
  request_id: words,
  entry: words,
});
const adminPeople = below('/admin/people', () => import('./pages/admin/people'), 'PeoplePage', ['admin', 'overview']);
const adminPrices = searchable(
  '/admin/prices',
  () => import('./pages/prices/prices'),
  'PricesPage',
  ['selling', 'admin', 'money'],
  { model: words, history: oneOf(['true']) },
);
const adminProposals = searchable(
  '/admin/prices/proposals',
  () => import('./pages/prices/proposals'),
  'ProposalsPage',
  ['selling', 'admin', 'money'],
  { read: oneOf(['true']), upstream: words },
);
const adminProposal = searchable(
  '/admin/prices/proposals/$proposalId',
  () => import('./pages/prices/proposal'),
  'ProposalPage',
  ['selling', 'admin', 'money'],
  { costs: oneOf(['true']) },
);
const adminModelPrices = below(
  '/admin/prices/models/$model',
  () => import('./pages/prices/model-prices'),
  'ModelPricesPage',
  ['selling', 'admin', 'money'],
);
const adminPriceLists = searchable(
  '/admin/prices/lists',
  () => import('./pages/prices/lists'),
  'PriceListsPage',
  ['selling'],
  { add: oneOf(['true']) },
);
const adminPriceList = below('/admin/prices/lists/$listId', () => import('./pages/prices/list'), 'PriceListPage', [
  'selling',
  'admin',
  'money',
]);
const adminSimulation = searchable(
  '/admin/prices/simulation',
  () => import('./pages/prices/simulation'),
  'SimulationPage',
  ['selling'],
  { from: day, to: day, proposal: words, list: words },
);
const adminUpstreams = below('/admin/upstreams', () => import('./pages/admin/upstreams'), 'UpstreamsPage', ['admin']);
const adminUpstream = below('/admin/upstreams/$upstreamId', () => import('./pages/admin/upstream'), 'UpstreamPage', [
  'admin',
  'selling',
]);
const adminTasks = searchable(
  '/admin/tasks',
  () => import('./pages/admin/tasks'),
  'AdminTasksPage',
  ['admin', 'tasks'],
  {
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
  },
);

const adminHealth = below('/admin/health', () => import('./pages/admin/health'), 'HealthPage', [
  'admin',
  'tasks',
  'money',
]);
const adminWorkers = searchable('/admin/workers', () => import('./pages/admin/workers'), 'WorkersPage', ['admin'], {
  all: oneOf(['true']),
});
const adminDeliveries = searchable(
  '/admin/deliveries',
  () => import('./pages/admin/deliveries'),
  'DeliveriesPage',
  ['admin', 'webhooks'],
  {
    status: oneOf(['pending', 'delivered', 'failed']),
    task_id: words,
    account_id: words,
    endpoint_id: words,
  },
);

const adminTask = below('/admin/tasks/$taskId', () => import('./pages/admin/task'), 'AdminTaskPage', [
  'admin',
  'tasks',
  'money',
  'webhooks',
]);
const adminMargins = searchable(
  '/admin/margins',
  () => import('./pages/admin/margins'),
  'MarginsPage',
  ['admin', 'money', 'selling'],
  {
    from: day,
    to: day,
    by: someOf(['day', 'upstream', 'model', 'account', 'kind', 'band', 'tag']),
  },
);

const adminAgentSessions = searchable(
  '/admin/agent-sessions',
  () => import('./pages/usage/agent-sessions'),
  'AdminAgentSessionsPage',
  ['admin', 'money', 'tasks'],
  { session: words, account_id: words, text: words },
);
const adminReconciliation = below(
  '/admin/reconciliation',
  () => import('./pages/admin/reconciliation'),
  'ReconciliationPage',
  ['admin'],
);
const adminAudit = searchable('/admin/audit', () => import('./pages/admin/audit'), 'AuditPage', ['admin'], {
  subject_id: words,
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
      agentSessions,
      promptLog,
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
      adminPromptLog,
      adminPeople,
      adminPrices,
      adminModelPrices,
      adminPriceLists,
      adminPriceList,
      adminSimulation,
      adminProposals,
      adminProposal,
      adminUpstreams,
      adminUpstream,
      adminHealth,
      adminWorkers,
      adminDeliveries,
      adminTasks,
      adminTask,
      adminMargins,
      adminAgentSessions,
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
