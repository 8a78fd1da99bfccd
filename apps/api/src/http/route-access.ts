/** Who may call a route: holders of an API key, operators by ADMIN_TOKEN, or everybody. */
export type RouteAccess = 'key' | 'operator' | 'open';
