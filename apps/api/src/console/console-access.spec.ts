import {
  CONSOLE_ACCESS,
  CONSOLE_PERMISSIONS,
  CONSOLE_ROLES,
  type ConsoleApi,
  type ConsoleRole,
  permissionsOf,
} from '#contracts';

const routes = (Object.keys(CONSOLE_ACCESS) as (keyof ConsoleApi)[]).map((route) => ({
  route,
  ...CONSOLE_ACCESS[route],
}));

/** The routes that a role may call besides those that everyone signed in may. */
const opensTo = (role: ConsoleRole) => {
  const permissions: readonly string[] = permissionsOf(role);
  return routes.filter(({ needs }) => permissions.includes(needs)).map(({ route }) => route);
};

describe('The access table of the console', () => {
  it('closes all operator routes to users of an account and to holders of a key', () => {
    for (const role of CONSOLE_ROLES.filter((each) => !['ops_viewer', 'operator'].includes(each))) {
      expect(opensTo(role).filter((route) => route.includes('/admin/'))).toEqual([]);
    }
  });

  it('closes the content, usage and payments of an account to operators', () => {
    for (const role of ['ops_viewer', 'operator'] as const) {
      const own = opensTo(role).filter((route) => !/ \/(admin|models|passkeys|profile|session)/.test(route));
      expect(own).toEqual([]);
    }
  });

  it('lets read-only roles change only their own settings, and finance change only its notices', () => {
    for (const role of ['viewer', 'finance', 'ops_viewer'] as const) {
      const changes = opensTo(role).filter((route) => route.startsWith('POST'));
      const others = changes.filter((route) => !/ \/(passkeys|profile|session)/.test(route));
      expect(others).toEqual(role === 'finance' ? ['POST /billing/notice', 'POST /billing/time-zone'] : []);
    }
  });

  it('gives holders of a key no access to keys and people', () => {
    expect(opensTo('key').filter((route) => / \/(keys|people|passkeys|profile)/.test(route))).toEqual([]);
  });

  it('requires a recent proof of identity to change money, limits, prices, upstreams, people, ways to sign in and secrets of keys', () => {
    const guarded =
      /^POST \/(keys|admin\/(accounts|keys|prices|upstreams)|people\/(invitations|:)|admin\/people|profile|passkeys)/;
    // These only take away, or change nothing.
    const harmless = /\/(revoke|withdraw|preview)$/;
    const unproved = routes.filter(({ route, proof }) => guarded.test(route) && !harmless.test(route) && !proof);
    expect(unproved.map(({ route }) => route)).toEqual([]);
    expect(routes.filter(({ route, proof }) => proof && route.startsWith('GET'))).toEqual([]);
  });

  it('has no permission that no route uses', () => {
    const needed = new Set<string>(routes.map(({ needs }) => needs));
    expect(Object.keys(CONSOLE_PERMISSIONS).filter((permission) => !needed.has(permission))).toEqual(['keys:all']);
  });
});
