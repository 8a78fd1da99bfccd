import type { FirstKey } from '#features';

/** What the banner tells. */
export interface BannerFacts {
  readonly baseUrl: string;
  /** Where people look and click; with a code that signs its owner in, where the gateway made itself a database. */
  readonly console: string;
  readonly firstKey: FirstKey;
  /** The admin token when it was just made. */
  readonly newAdminToken: string | null;
  readonly embedded: boolean;
  readonly dataDirectory: string;
  /** Who makes texts, as UPSTREAMS_FILE names them; empty: the sandbox, unless upstreams stand in the database. */
  readonly textUpstreams: readonly string[];
}

/** A key at the moment when it is stored. */
export const newKeyLine = (key: string): string => `  API key      ${key}   (shown this once; only its hash is kept)`;

/** What a newcomer needs: the address, the key, and lines to paste. */
export function banner({
  baseUrl,
  console,
  firstKey,
  newAdminToken,
  embedded,
  dataDirectory,
  textUpstreams,
}: BannerFacts): string {
  const key = firstKey.key ?? '$GATEWAY_API_KEY';
  const keyLine = firstKey.key ?? sourceOfKey(firstKey);
  const adminLine = newAdminToken
    ? `\n  Admin      ${newAdminToken}   (shown this once; opens /admin/v1 and ${baseUrl}/ops)`
    : '';
  return `
  Generation gateway is ready.

  Base URL   ${baseUrl}
  Console    ${console}${console.includes('#') ? '   (signs you in once, for 15 minutes)' : ''}
  API key    ${keyLine}${adminLine}
  Data       ${embedded ? `${dataDirectory} (embedded Postgres; queues and files there too)` : 'in the database and stores you configured'}
  Models     ${makers(textUpstreams)}

  A picture, a film, and how they stand:

  curl -s ${baseUrl}/v1/images/generations -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
    -d '{"model":"eta-image-2.0","prompt":"a lighthouse at dusk","size":"16:9","resolution":"2K"}'

  curl -s ${baseUrl}/v1/videos/generations -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
    -d '{"model":"beta-2.5-preview","prompt":"waves against a lighthouse","resolution":"480p","size":"16:9","duration":5}'

  curl -s ${baseUrl}/v1/tasks/TASK_ID -H "Authorization: Bearer ${key}"

  Ctrl-C stops it and keeps all data.
`;
}

/** Where the key can be had; a key is printed only at the moment when it is made. */
const sourceOfKey = ({ isChosen, prefix }: FirstKey): string =>
  isChosen
    ? `the one you chose in GATEWAY_API_KEY (${prefix}…); export it where you paste the lines below`
    : `the one printed at the first start (${prefix}…); lost it? npm run new-key prints another`;

/** Who makes what is sold. */
function makers(textUpstreams: readonly string[]): string {
  if (textUpstreams.length === 0) return 'made by the built-in sandbox: real files, not real models';
  return `texts by ${textUpstreams.join(', ')}; pictures and films by the built-in sandbox: real files, not real models`;
}
