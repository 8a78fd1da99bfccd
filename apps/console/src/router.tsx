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
  validateSearch: searchOf({
    from: day,
    to: day,
    by: someOf(['day', 'model', 'key', 'tag']),
    tag: words,
    records: oneOf(['true']),
    request_id: words,
  }),
  component: page(() => import('./pages/usage/usage'), 'UsagePage', 'money', 'tasks'),
});

const agentSessions = createRoute({
  getParentRoute: () => shell,
  path: '/agent-sessions',
  validateSearch: searchOf({ session: words, text: words }),
  component: page(() => import('./pages/usage/agent-sessions'), 'AgentSessionsPage', 'money', 'tasks'),
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
  component: page(() => import('./pages/admin/account'), 'AdminAccountPage', 'admin', 'keys', 'money', 'selling'),
});

const adminPromptLog = createRoute({
  getParentRoute: () => shell,
  path: '/admin/accounts/$accountId/prompt-log',
  validateSearch: searchOf({ session: words, request_id: words, entry: words }),
  component: page(() => import('./pages/prompts/prompt-log'), 'AdminPromptLogPage', 'prompts', 'admin'),
});

const promptLog = createRoute({
  getParentRoute: () => shell,
  path: '/prompt-log',
  validateSearch: searchOf({ session: words, request_id: words, entry: words }),
  component: page(() => import('./pages/prompts/prompt-log'), 'PromptLogPage', 'prompts'),
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
  component: page(() => import('./pages/prices/prices'), 'PricesPage', 'selling', 'admin', 'money'),
});

const adminProposals = createRoute({
  getParentRoute: () => shell,
  path: '/admin/prices/proposals',
  validateSearch: searchOf({ read: oneOf(['true']), upstream: words }),
  component: page(() => import('./pages/prices/proposals'), 'ProposalsPage', 'selling', 'admin', 'money'),
});

const adminProposal = createRoute({
  getParentRoute: () => shell,
  path: '/admin/prices/proposals/$proposalId',
  validateSearch: searchOf({ costs: oneOf(['true']) }),
  component: page(() => import('./pages/prices/proposal'), 'ProposalPage', 'selling', 'admin', 'money'),
});

const adminModelPrices = createRoute({
  getParentRoute: () => shell,
  path: '/admin/prices/models/$model',
  component: page(() => import('./pages/prices/model-prices'), 'ModelPricesPage', 'selling', 'admin', 'money'),
});

const adminPriceLists = createRoute({
  getParentRoute: () => shell,
  path: '/admin/prices/lists',
  validateSearch: searchOf({ add: oneOf(['true']) }),
  component: page(() => import('./pages/prices/lists'), 'PriceListsPage', 'selling'),
});

const adminPriceList = createRoute({
  getParentRoute: () => shell,
  path: '/admin/prices/lists/$listId',
  component: page(() => import('./pages/prices/list'), 'PriceListPage', 'selling', 'admin', 'money'),
});

const adminSimulation = createRoute({
  getParentRoute: () => shell,
  path: '/admin/prices/simulation',
  validateSearch: searchOf({ from: day, to: day, proposal: words, list: words }),
  component: page(() => import('./pages/prices/simulation'), 'SimulationPage', 'selling'),
});

const adminUpstreams = createRoute({
  getParentRoute: () => shell,
  path: '/admin/upstreams',
  component: page(() => import('./pages/admin/upstreams'), 'UpstreamsPage', 'admin'),
});

const adminUpstream = createRoute({
  getParentRoute: () => shell,
  path: '/admin/upstreams/$upstreamId',
  component: page(() => import('./pages/admin/upstream'), 'UpstreamPage', 'admin', 'selling'),
});

const adminTasks = createRoute({
  getParentRoute: () => shell,
  path: '/admin/tasks',
  validateSearch: searchOf({
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
  component: page(() => import('./pages/admin/tasks'), 'AdminTasksPage', 'admin', 'tasks'),
});

const adminHealth = createRoute({
  getParentRoute: () => shell,
  path: '/admin/health',
  component: page(() => import('./pages/admin/health'), 'HealthPage', 'admin', 'tasks', 'money'),
});

const adminWorkers = createRoute({
  getParentRoute: () => shell,
  path: '/admin/workers',
  validateSearch: searchOf({ all: oneOf(['true']) }),
  component: page(() => import('./pages/admin/workers'), 'WorkersPage', 'admin'),
});

const adminDeliveries = createRoute({
  getParentRoute: () => shell,
  path: '/admin/deliveries',
  validateSearch: searchOf({
    status: oneOf(['pending', 'delivered', 'failed']),
    task_id: words,
    account_id: words,
    endpoint_id: words,
  }),
  component: page(() => import('./pages/admin/deliveries'), 'DeliveriesPage', 'admin', 'webhooks'),
});

const adminTask = createRoute({
  getParentRoute: () => shell,
  path: '/admin/tasks/$taskId',
  component: page(() => import('./pages/admin/task'), 'AdminTaskPage', 'admin', 'tasks', 'money', 'webhooks'),
});

const adminMargins = createRoute({
  getParentRoute: () => shell,
  path: '/admin/margins',
  validateSearch: searchOf({
    from: day,
    to: day,
    by: someOf(['day', 'upstream', 'model', 'account', 'kind', 'band', 'tag']),
  }),
  component: page(() => import('./pages/admin/margins'), 'MarginsPage', 'admin', 'money', 'selling'),
});

const adminAgentSessions = createRoute({
  getParentRoute: () => shell,
  path: '/admin/agent-sessions',
  validateSearch: searchOf({ session: words, account_id: words, text: words }),
  component: page(() => import('./pages/usage/agent-sessions'), 'AdminAgentSessionsPage', 'admin', 'money', 'tasks'),
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
