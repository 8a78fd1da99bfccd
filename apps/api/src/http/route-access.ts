/** Who may call a route: holders of an API key, operators by ADMIN_TOKEN, people by their session in the console, or anyone. */
export type RouteAccess = 'key' | 'operator' | 'session' | 'open';
