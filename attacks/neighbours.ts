import type { Attack, Outcome, Scene } from './attack.js';
import { type Request, send, textRequest } from './client.js';
import { PLAIN } from './hostile-vendor.js';
import { besideVictim, type Probe } from './victim.js';
import { type Protocol, PROTOCOLS } from './wire-formats.js';

const ATTACK_MS = 8_000;
const PARALLEL = 4;
const MARK = 'does-not-exist-mark';

/** How vendors refuse an id that the caller made up. */
const REFUSALS: Readonly<Record<string, { readonly status: number; readonly body: object }>> = {
  '403 for an unknown cache': {
    status: 403,
    body: {
      error: {
        code: 403,
        message: `CachedContent not found (or permission denied) for ${MARK}`,
        status: 'PERMISSION_DENIED',
      },
    },
  },
  '404 for an unknown item': {
    status: 404,
    body: { error: { type: 'invalid_request_error', message: `Item with id '${MARK}' not found.`, code: null } },
  },
  '404 for an unknown file': {
    status: 404,
    body: { type: 'error', error: { type: 'not_found_error', message: `File not found: ${MARK}` } },
  },
  '409 for a busy container': { status: 409, body: { error: { type: 'conflict', message: `${MARK} is in use` } } },
  '424 for a tool server that cannot be reached': {
    status: 424,
    body: { error: { type: 'external_connector_error', message: `Error retrieving tool list: ${MARK}` } },
  },
  '500 that a body provokes': { status: 500, body: { error: { type: 'server_error', message: `failed on ${MARK}` } } },
};

/** One tenant makes the vendor refuse, repeatedly; the model must stay open to all others. */
const provokedRefusal = (
  name: string,
  refusal: { readonly status: number; readonly body: object },
  protocol: Protocol,
  accounts = 1,
): Attack => ({
  name: `vendor refuses: ${name}, over ${protocol}${accounts > 1 ? `, for ${accounts} accounts` : ''}`,
  run: async (scene): Promise<Outcome> => {
    const attackers = await Promise.all(Array.from({ length: accounts }, () => scene.tenant('10')));
    scene.vendor.plan = { ...PLAIN, refuse: (body) => (body.includes(MARK) ? refusal : undefined) };
    const hostile = marked(textRequest('responses', protocol, false));
    const measured = await besideVictim(scene.victim, textProbe(scene, protocol), () =>
      repeated(ATTACK_MS * scene.intensity.scale, PARALLEL, async () => {
        for (const { key } of attackers) await send(scene.target.url, key, hostile);
      }),
    );
    const charges = await Promise.all(attackers.map((attacker) => scene.target.chargedMicros(attacker)));
    const chargedMicros = charges.reduce((sum, charge) => sum + charge, 0n);
    return { ...measured, bill: { chargedMicros, dueMicros: 0n } };
  },
});

const marked = (request: Request): Request => ({
  ...request,
  body: JSON.stringify(request.body).replace('six times seven', MARK),
});

export const textProbe =
  ({ target }: Scene, protocol: Protocol): Probe =>
  async ({ key }) => {
    const { status, text } = await send(target.url, key, textRequest('responses', protocol, false));
    if (status !== 200) throw new Error(`a good request was answered with ${status}: ${text}`);
  };

/** Does something over and over, several at once, for a time. */
export async function repeated(forMs: number, parallel: number, work: () => Promise<void>): Promise<void> {
  const end = Date.now() + forMs;
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (Date.now() < end) await work().catch(() => undefined);
    }),
  );
}

/** What one person may do with a second account. */
const ofTwoAccounts = Object.entries(REFUSALS)
  .filter(([, { status }]) => status === 500 || status === 403)
  .map(([name, refusal]) => provokedRefusal(name, refusal, 'responses', 2));

export const NEIGHBOUR_ATTACKS: readonly Attack[] = [
  ...(Object.keys(PROTOCOLS) as Protocol[]).flatMap((protocol) =>
    Object.entries(REFUSALS).map(([name, refusal]) => provokedRefusal(name, refusal, protocol)),
  ),
  ...ofTwoAccounts,
];
