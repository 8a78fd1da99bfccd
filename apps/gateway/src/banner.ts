import type { FirstKey } from '#features';

/** What the banner tells. */
export interface BannerFacts {
  readonly baseUrl: string;
  readonly firstKey: FirstKey;
  /** The admin token when it was just made. */
  readonly newAdminToken: string | null;
  readonly embedded: boolean;
  readonly dataDirectory: string;
}

/** What a newcomer needs: the address, the key, and lines to paste. */
export function banner({ baseUrl, firstKey, newAdminToken, embedded, dataDirectory }: BannerFacts): string {
  const key = firstKey.key ?? '$GATEWAY_API_KEY';
  const keyLine = firstKey.key
    ? firstKey.key
    : `the one printed at the first start (${firstKey.prefix}…); put it in GATEWAY_API_KEY to paste the lines below`;
  const adminLine = newAdminToken
    ? `\n  Admin      ${newAdminToken}   (shown this once; opens /admin/v1 and ${baseUrl}/ops)`
    : '';
  return `
  Generation gateway is ready.

  Base URL   ${baseUrl}
  API key    ${keyLine}${adminLine}
  Data       ${embedded ? `${dataDirectory} (embedded Postgres; queues and files there too)` : 'in the database and stores you configured'}
  Models     made by the built-in sandbox: real files, not real models

  A picture, a film, and how they stand:

  curl -s ${baseUrl}/v1/images/generations -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
    -d '{"model":"eta-image-2.0","prompt":"a lighthouse at dusk","size":"16:9","resolution":"2K"}'

  curl -s ${baseUrl}/v1/videos/generations -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
    -d '{"model":"beta-2.5-preview","prompt":"waves against a lighthouse","resolution":"480p","size":"16:9","duration":5}'

  curl -s ${baseUrl}/v1/tasks/TASK_ID -H "Authorization: Bearer ${key}"

  Ctrl-C stops it and keeps all data.
`;
}
