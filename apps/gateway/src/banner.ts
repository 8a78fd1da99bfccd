import type { FirstKey } from '#features';

/** The name of the sandbox among the vendors. */
export const SANDBOX = 'sandbox';

/** What the banner shows. */
export interface BannerFacts {
  readonly baseUrl: string;
  /** The address of the console; with a code that signs its owner in, where the gateway runs its own database. */
  readonly console: string;
  readonly firstKey: FirstKey;
  /** The admin token when it was just made. */
  readonly newAdminToken: string | null;
  readonly embedded: boolean;
  readonly dataDirectory: string;
  /** Ids of the upstreams that write texts, `sandbox` while it stands in for them; empty: no text is sold. */
  readonly textUpstreams: readonly string[];
  /** The same for images and videos. */
  readonly mediaUpstreams: readonly string[];
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
  mediaUpstreams,
}: BannerFacts): string {
  const key = firstKey.key ?? '$GATEWAY_API_KEY';
  const keyLine = firstKey.key ?? sourceOfKey(firstKey);
  const adminLine = newAdminToken
    ? `\n  Admin      ${newAdminToken}   (shown this once; opens /admin/v1 and the operator pages of the console)`
    : '';
  return `
  Generation gateway is ready.

  Base URL   ${baseUrl}
  Console    ${console}${console.includes('#') ? '   (signs you in once, for 15 minutes)' : ''}
  API key    ${keyLine}${adminLine}
  Data       ${embedded ? `${dataDirectory} (embedded Postgres; queues and files there too)` : 'in the database and stores you configured'}
  Models     ${makers(textUpstreams, mediaUpstreams)}

${isSandboxAlone(mediaUpstreams) ? linesToPaste(baseUrl, key) : lineOfModels(baseUrl, key)}

  Ctrl-C stops it and keeps all data.
`;
}

/** Where the key can be had; a key is printed only at the moment when it is made. */
const sourceOfKey = ({ isChosen, prefix }: FirstKey): string =>
  isChosen
    ? `the one you chose in GATEWAY_API_KEY (${prefix}…); export it where you paste the lines below`
    : `the one printed at the first start (${prefix}…); lost it? npm run new-key prints another`;

/** An image and a video that every gateway makes whose sandbox does. */
const linesToPaste = (baseUrl: string, key: string): string => `  An image, a video, and how they stand:

  curl -s ${baseUrl}/v1/images/generations -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
    -d '{"model":"eta-image-2.0","prompt":"a lighthouse at dusk","size":"16:9","resolution":"2K"}'

  curl -s ${baseUrl}/v1/videos/generations -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
    -d '{"model":"beta-2.5-preview","prompt":"waves against a lighthouse","resolution":"480p","size":"16:9","duration":5}'

  curl -s ${baseUrl}/v1/tasks/TASK_ID -H "Authorization: Bearer ${key}"`;

const lineOfModels = (baseUrl: string, key: string): string => `  What can be ordered, and what it costs:

  curl -s ${baseUrl}/v1/models -H "Authorization: Bearer ${key}"`;

const isSandboxAlone = (ids: readonly string[]): boolean => ids.length === 1 && ids[0] === SANDBOX;

/** The vendors of the models on sale. */
function makers(text: readonly string[], media: readonly string[]): string {
  if (text.length === 0 && media.length === 0)
    return 'none yet: name upstreams in UPSTREAMS_FILE, or set SANDBOX_BILLING_ENABLED=true to try everything without a vendor';
  if (isSandboxAlone(text) && isSandboxAlone(media)) return `made by ${nameMakers([SANDBOX])}`;
  return `texts by ${nameMakers(text)}; images and videos by ${nameMakers(media)}`;
}

function nameMakers(ids: readonly string[]): string {
  if (ids.length === 0) return 'no vendor yet';
  return isSandboxAlone(ids) ? 'the built-in sandbox: real files, not real models' : ids.join(', ');
}
