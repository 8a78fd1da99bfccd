import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack, Outcome, Scene } from './attack.js';
import { send, stalledRequest, textRequest } from './client.js';
import { PLAIN } from './hostile-vendor.js';
import type { Tenant } from './target.js';
import { besideVictim, type Probe } from './victim.js';

const MEBIBYTE = 1_048_576;
/** BODY_LIMIT_MB as it is when nothing is set. */
const LIMIT_BYTES = 64 * MEBIBYTE;
/** The least memory growth that is worth a word: one garbage collection of an idle process moves as much. */
const GROWTH_NOISE_BYTES = 128 * MEBIBYTE;
const GROWTH_FACTOR = 4;

/** Its punycode takes time by the square of its length. */
const hostOf = (letters: number): string =>
  `https://${Array.from({ length: letters }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7_919) % 20_000))).join('')}.com/`;

function endlessHosts(bytes: number): string {
  const image = { type: 'input_image', image_url: hostOf(8_000) };
  const content = Array.from({ length: Math.max(1, Math.floor(bytes / 50_000)) }, () => image);
  const tools = [
    { type: 'mcp', server_label: 's', server_url: hostOf(Math.floor(bytes / 10)), require_approval: 'never' },
  ];
  return JSON.stringify({ model: 'vendor-5', input: [{ role: 'user', content }], tools });
}

/** Bodies that are cheap to send and dear to understand, each of about `bytes`. */
const SHAPES: Readonly<Record<string, (bytes: number) => string>> = {
  'empty objects': (bytes) => `{"q":[${'{},'.repeat(bytes / 3)}{}]}`,
  'empty arrays': (bytes) => `[${'[],'.repeat(bytes / 3)}[]]`,
  depth: (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  'one number': (bytes) => `{"duration":${'9'.repeat(bytes)}}`,
  'many keys': (bytes) => `{${Array.from({ length: bytes / 12 }, (_, index) => `"k${index}":1`).join(',')}}`,
  escapes: (bytes) => `{"prompt":"${'\\u0000'.repeat(bytes / 6)}"}`,
  'one long word': (bytes) => `{"model":"vendor-5","input":"${'a'.repeat(bytes)}"}`,
  'endless hosts': endlessHosts,
  'white space': (bytes) => `{${' '.repeat(bytes)}"model":"vendor-5"}`,
};

const ROUTES = ['/v1/quote', '/v1/videos/generations', '/v1/responses', '/v1/messages/count_tokens'];

const readBalance =
  (scene: Scene): Probe =>
  async ({ key }) => {
    const { status } = await send(scene.target.url, key, { method: 'GET', path: '/v1/user/balance' });
    if (status !== 200) throw new Error(`the balance was answered with ${status}`);
  };

const hostileBody = (name: string, shape: (bytes: number) => string): Attack => ({
  name: `body: ${name}`,
  run: async (scene): Promise<Outcome> => {
    const { target, intensity } = scene;
    const attacker = await scene.tenant('1');
    const bytes = Math.floor((LIMIT_BYTES - MEBIBYTE) * Math.min(1, intensity.scale));
    const body = shape(bytes);
    const before = target.residentBytes();
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, target.residentBytes())), 20);
    const answers: number[] = [];
    const measured = await besideVictim(scene.victim, readBalance(scene), async () => {
      for (const path of ROUTES) answers.push(await statusOf(scene, attacker, path, body));
    }).finally(() => clearInterval(watch));
    const breaches = [...measured.breaches];
    const wrong = answers.filter((status) => status < 400 || status >= 500);
    if (wrong.length > 0) breaches.push(`answered with ${wrong.join(', ')}`);
    if (peak - before > Math.max(GROWTH_NOISE_BYTES, body.length * GROWTH_FACTOR))
      breaches.push(`memory grew by ${Math.round((peak - before) / MEBIBYTE)} MiB for ${bytes} bytes`);
    return { ...measured, breaches };
  },
});

/** The status, or 499 where the gateway hung up on a body that it did not want to read. */
const statusOf = async ({ target }: Scene, { key }: Tenant, path: string, body: string): Promise<number> =>
  send(target.url, key, { method: 'POST', path, body }).then(
    ({ status }) => status,
    () => 499,
  );

/** Large bodies that stop just before their end, so that no other request finds room for one. */
const stalledBodies: Attack = {
  name: 'nine connections that stall with a large body',
  run: async (scene): Promise<Outcome> => {
    const attacker = await scene.tenant('1');
    scene.vendor.plan = PLAIN;
    const request = textRequest('responses', 'responses', false, { input: 'word '.repeat(20_000) });
    const probe: Probe = async ({ key }) => {
      const { status } = await send(scene.target.url, key, request);
      if (status !== 200) throw new Error(`100 KB were answered with ${status}`);
    };
    const measured = await besideVictim(scene.victim, probe, async () => {
      const sockets = await Promise.all(
        Array.from({ length: 9 }, () =>
          stalledRequest(scene.target.url, attacker.key, '/v1/responses', LIMIT_BYTES - 1_024, LIMIT_BYTES - 2_048),
        ),
      );
      await sleep(3_000);
      for (const socket of sockets) socket.destroy();
    });
    return measured;
  },
};

/** Schemas that say far more than they hold: chains of references, and objects that are put together of one wide schema again and again. */
function tangledSchemas(scale: number): readonly object[] {
  const count = Math.max(100, Math.floor(3_000 * Math.min(1, scale)));
  const named = (schemaOf: (index: number) => object): object =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`d${index}`, schemaOf(index)]));
  const wide = { properties: named(() => ({ type: 'string' })) };
  const many = Array.from({ length: 900 }, () => ({ $ref: '#/$defs/wide' }));
  const chain = {
    $defs: named((index) => ({ $ref: `#/$defs/d${index + 1}` })),
    properties: { a: { $ref: '#/$defs/d0' } },
  };
  return [chain, { $defs: { wide }, allOf: many }, { $defs: { wide }, anyOf: many }];
}

const hostileSchemas: Attack = {
  name: 'schemas that are put together of one another',
  run: async (scene): Promise<Outcome> => {
    const { target, intensity } = scene;
    const attacker = await scene.tenant('5');
    scene.vendor.plan = PLAIN;
    const before = target.residentBytes();
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, target.residentBytes())), 20);
    const wrong: string[] = [];
    const measured = await besideVictim(scene.victim, readBalance(scene), async () => {
      for (const protocol of ['chat', 'responses', 'messages', 'gemini'] as const)
        for (const schema of tangledSchemas(intensity.scale)) {
          const parameters = { type: 'object', ...schema };
          const tools = [{ type: 'function', function: { name: 'f', parameters } }];
          const format = { type: 'json_schema', json_schema: { name: 's', schema: parameters } };
          for (const more of [{ tools }, { response_format: format }]) {
            const { path, body } = textRequest('chat', protocol, false, more);
            const status = await statusOf(scene, attacker, path, JSON.stringify(body));
            if (status >= 499) wrong.push(`${protocol}: ${status}`);
          }
        }
    }).finally(() => clearInterval(watch));
    const breaches = [...measured.breaches];
    if (wrong.length > 0) breaches.push(`answered with ${wrong.join(', ')}`);
    if (peak - before > 2 * GROWTH_NOISE_BYTES)
      breaches.push(`memory grew by ${Math.round((peak - before) / MEBIBYTE)} MiB`);
    return { ...measured, breaches };
  },
};

/** A choice among tools whose names would be a thousand times what it holds. */
const repeatedNames: Attack = {
  name: 'one namespace of tools that a choice names again and again',
  run: async (scene): Promise<Outcome> => {
    const attacker = await scene.tenant('5');
    scene.vendor.plan = PLAIN;
    const count = Math.max(100, Math.floor(5_900 * Math.min(1, scene.intensity.scale)));
    const tools = Array.from({ length: count }, (_, nth) => ({ type: 'function', name: `n${nth}`, parameters: {} }));
    const names = tools.map(() => ({ type: 'namespace', name: 'all' }));
    const { path, body } = textRequest('responses', 'chat', false, {
      tools: [{ type: 'namespace', name: 'all', description: 'All.', tools }],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: names },
    });
    const statuses: number[] = [];
    const measured = await besideVictim(scene.victim, readBalance(scene), async () => {
      for (let nth = 0; nth < 4; nth += 1) statuses.push(await statusOf(scene, attacker, path, JSON.stringify(body)));
    });
    const breaches = [...measured.breaches];
    if (statuses.some((status) => status !== 200)) breaches.push(`answered with ${statuses.join(', ')}`);
    return { ...measured, breaches };
  },
};

export const BODY_ATTACKS: readonly Attack[] = [
  ...Object.entries(SHAPES).map(([name, shape]) => hostileBody(name, shape)),
  stalledBodies,
  hostileSchemas,
  repeatedNames,
];
