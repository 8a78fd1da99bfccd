import type { ConsoleSession } from '../api/types';
import type { IconName } from '../components/icons';
import type { Messages } from '../messages/words';

type Permission = ConsoleSession['permissions'][number];

/** A page of the menu: its address, its icon, and what a person needs to see it; any one of several. */
export interface MenuPage {
  readonly to: string;
  readonly name: keyof Messages['shell']['pages'];
  readonly icon: IconName;
  readonly needs: readonly Permission[];
  /** Outside of these pages: opened by the browser itself. */
  readonly isOutside?: true;
}

export interface MenuGroup {
  readonly name: keyof Messages['shell']['groups'];
  readonly pages: readonly MenuPage[];
}

const GROUPS: readonly MenuGroup[] = [
  {
    name: 'make',
    pages: [
      { to: '/', name: 'overview', icon: 'overview', needs: ['overview:read', 'admin:read'] },
      { to: '/playground', name: 'playground', icon: 'playground', needs: ['tasks:run'] },
      { to: '/tasks', name: 'tasks', icon: 'tasks', needs: ['tasks:read'] },
      { to: '/models', name: 'models', icon: 'models', needs: ['models:read'] },
    ],
  },
  {
    name: 'money',
    pages: [
      { to: '/usage', name: 'usage', icon: 'usage', needs: ['usage:read'] },
      { to: '/agent-sessions', name: 'agentSessions', icon: 'tasks', needs: ['usage:read'] },
      { to: '/billing', name: 'billing', icon: 'billing', needs: ['balance:read'] },
    ],
  },
  {
    name: 'connect',
    pages: [
      { to: '/keys', name: 'keys', icon: 'keys', needs: ['keys:own'] },
      { to: '/webhooks', name: 'webhooks', icon: 'webhooks', needs: ['webhooks:manage'] },
      { to: '/prompt-log', name: 'promptLog', icon: 'audit', needs: ['prompts:manage'] },
      { to: '/account', name: 'account', icon: 'account', needs: ['profile:manage', 'people:manage'] },
    ],
  },
  {
    name: 'operate',
    pages: [
      { to: '/admin/health', name: 'health', icon: 'overview', needs: ['admin:read'] },
      { to: '/admin/accounts', name: 'accounts', icon: 'accounts', needs: ['admin:read'] },
      { to: '/admin/people', name: 'people', icon: 'account', needs: ['admin:accounts'] },
      { to: '/admin/prices', name: 'prices', icon: 'prices', needs: ['admin:read'] },
      { to: '/admin/upstreams', name: 'upstreams', icon: 'upstreams', needs: ['admin:read'] },
      { to: '/admin/margins', name: 'margins', icon: 'usage', needs: ['admin:read'] },
      { to: '/admin/tasks', name: 'adminTasks', icon: 'tasks', needs: ['admin:read'] },
      { to: '/admin/deliveries', name: 'deliveries', icon: 'webhooks', needs: ['admin:read'] },
      { to: '/admin/workers', name: 'workers', icon: 'queues', needs: ['admin:read'] },
      { to: '/admin/agent-sessions', name: 'adminAgentSessions', icon: 'usage', needs: ['admin:accounts'] },
      { to: '/admin/reconciliation', name: 'reconciliation', icon: 'reconciliation', needs: ['admin:read'] },
      { to: '/admin/audit', name: 'audit', icon: 'audit', needs: ['admin:read'] },
      { to: '/ops/queues', name: 'queues', icon: 'queues', needs: ['admin:read'], isOutside: true },
    ],
  },
];

/** The pages that a user with these permissions may see. */
export const menuFor = (permissions: ConsoleSession['permissions']): MenuGroup[] =>
  GROUPS.map((group) => ({
    ...group,
    pages: group.pages.filter(({ needs }) => needs.some((need) => permissions.includes(need))),
  })).filter(({ pages }) => pages.length > 0);

/** Whether a user with these permissions may open the page at a path, which may lie below one of the menu. */
export function mayOpen(path: string, permissions: ConsoleSession['permissions']): boolean {
  const page = GROUPS.flatMap(({ pages }) => pages)
    .filter(({ to }) => path === to || (to !== '/' && path.startsWith(`${to}/`)))
    .at(0);
  return page === undefined || page.to === '/' || page.needs.some((need) => permissions.includes(need));
}
