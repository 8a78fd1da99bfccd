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

/** The routes that a role may call besides those that everybody signed in may. */
const opensTo = (role: ConsoleRole) => {
  const permissions: readonly string[] = permissionsOf(role);
  return routes.filter(({ needs }) => permissions.includes(needs)).map(({ route }) => route);
};

describe('The table of who may do what in the console', () => {
  it('shuts everything of operators to people of an account and to holders of a key', () => {
    for (const role of CONSOLE_ROLES.filter((each) => !['ops_viewer', 'operator'].includes(each))) {
      expect(opensTo(role).filter((route) => route.includes('/admin/'))).toEqual([]);
    }
  });

  it('shuts what an account made, used and paid to operators', () => {
    for (const role of ['ops_viewer', 'operator'] as const) {
      const own = opensTo(role).filter((route) => !/ \/(admin|models|passkeys|profile|session)/.test(route));
      expect(own).toEqual([]);
    }
  });

  it('lets those who may only look change nothing but what is their own, and finance when it is told', () => {
    for (const role of ['viewer', 'finance', 'ops_viewer'] as const) {
      const changes = opensTo(role).filter((route) => route.startsWith('POST'));
      const others = changes.filter((route) => !/ \/(passkeys|profile|session)/.test(route));
      expect(others).toEqual(role === 'finance' ? ['POST /billing/notice'] : []);
    }
  });

  it('gives holders of a key no keys and no people', () => {
    expect(opensTo('key').filter((route) => / \/(keys|people|passkeys|profile)/.test(route))).toEqual([]);
  });

  it('asks for fresh proof before money, prices, upstreams, people and secrets of keys change', () => {
    const guarded =
      / \/(keys|admin\/accounts\/.*\/(top-ups|adjustments|keys)|admin\/(prices|upstreams))(\/:\w+(\/rotate|\/remove)?)?$/;
    const unproved = routes.filter(({ route, proof }) => route.startsWith('POST') && guarded.test(route) && !proof);
    expect(unproved).toEqual([]);
    expect(routes.filter(({ route, proof }) => proof && route.startsWith('GET'))).toEqual([]);
  });

  it('names no permission that no route needs', () => {
    const needed = new Set<string>(routes.map(({ needs }) => needs));
    expect(Object.keys(CONSOLE_PERMISSIONS).filter((permission) => !needed.has(permission))).toEqual(['keys:all']);
  });
});
