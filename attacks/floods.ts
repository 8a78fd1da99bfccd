import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '#contracts';
import { endlessPdfSample, eventually, pngSample } from '#testing';
import type { Attack, Outcome, Scene } from './attack.js';
import { type Answer, type Request, send, sendAndLeave, textOf, textRequest } from './client.js';
import { PLAIN } from './hostile-vendor.js';
import { type ProbeName, probesOf } from './probes.js';
import type { Tenant } from './target.js';
import { besideVictim } from './victim.js';

const MEBIBYTE = 1_048_576;
const ATTACK_MS = 6_000;
/** How much longer a flood flows of which nothing was taken, as on a machine that is busy with the others, in milliseconds. */
const UNTIL_TAKEN_MS = 120_000;

/** What a flood sends, time after time, and what must hold when it is over; each answers breaches as sentences. */
interface Wave {
  readonly hit: (nth: number) => Promise<string[]>;
  readonly afterwards?: () => Promise<string[]>;
  /** Removes, when all is judged, what would go on without anybody. */
  readonly tidy?: () => Promise<unknown>;
}

/** What one hostile account does over and over. */
export interface Flood {
  readonly name: string;
  readonly money: string;
  /** So many loops at once, each with a pause after every request. */
  readonly parallel: number;
  readonly pauseMs: number;
  /** What another account does meanwhile that this would delay. */
  readonly probe: ProbeName;
  /** The most that may be kept for the account when it is over. */
  readonly keptMiB: number;
  /** Whether every request is refused; else one that is taken must be among them, or the row would prove nothing. */
  readonly isRefused?: boolean;
  /** Whether what the vendor was asked for has its price; else nothing is to be charged. */
  readonly isPaid?: boolean;
  prepare(scene: Scene, attacker: Tenant): Promise<Wave>;
}

/** What came of a flood. */
export interface Flooded {
  readonly breaches: readonly string[];
  readonly keptBytes: number;
  readonly chargedMicros: bigint;
  readonly dueMicros: bigint;
}

/** Prepares a flood for an account of its own; what it answers flows until `until` resolves, its pauses `rest` times as long. */
export async function prepareFlood(
  flood: Flood,
  scene: Scene,
  rest = 1,
): Promise<(until: Promise<unknown>) => Promise<Flooded>> {
  const attacker = await scene.tenant(flood.money);
  const wave = await flood.prepare(scene, attacker);
  return async (until) => {
    const breaches = new Map<string, number>();
    const note = (found: readonly string[]): void => {
      for (const breach of found) breaches.set(breach, (breaches.get(breach) ?? 0) + 1);
    };
    const proves = (): boolean => flood.isRefused === true || taken.has(attacker.accountId);
    await flowing({ ...flood, pauseMs: flood.pauseMs * rest }, wave, { until, proves }, note);
    if (!proves()) note(['none of its requests was taken']);
    note((await wave.afterwards?.()) ?? []);
    const { target } = scene;
    const chargedMicros = await target.chargedMicros(attacker);
    const dueMicros = flood.isPaid === true ? await dueFor(scene, attacker) : 0n;
    if (chargedMicros < dueMicros) note([`charged ${chargedMicros} of ${dueMicros} micros`]);
    const keptBytes = await target.keptBytes(attacker);
    if (keptBytes > flood.keptMiB * MEBIBYTE) note([`${Math.round(keptBytes / MEBIBYTE)} MiB are kept`]);
    await wave.tidy?.();
    const told = [...breaches].map(([breach, times]) => (times > 1 ? `${breach} (${times} times)` : breach));
    return { breaches: told, keptBytes, chargedMicros, dueMicros };
  };
}

async function flowing(
  { parallel, pauseMs }: Flood,
  { hit }: Wave,
  { until, proves }: { readonly until: Promise<unknown>; readonly proves: () => boolean },
  note: (breaches: string[]) => void,
): Promise<void> {
  let endsMs = Number.POSITIVE_INFINITY;
  const over = until.finally(() => (endsMs = performance.now()));
  const isOver = (): boolean => performance.now() >= endsMs + (proves() ? 0 : UNTIL_TAKEN_MS);
  let sent = 0;
  const loop = async (): Promise<void> => {
    while (!isOver()) {
      const nth = sent;
      sent += 1;
      // A connection that the gateway closes is its right; what others lose by it is measured.
      note(await hit(nth).catch(() => []));
      await sleep(pauseMs);
    }
  };
  await Promise.all([over, ...Array.from({ length: parallel }, loop)]);
}

/** What one answer costs that the vendor counts as it counts all, times how often it was asked for the account. */
async function dueFor({ target, vendor, tenant }: Scene, { accountId }: Tenant): Promise<bigint> {
  const honest = await tenant('10');
  await send(target.url, honest.key, textRequest('responses', 'responses', false));
  const asked = vendor.received.filter((body) => body.includes(accountId)).length;
  return (await target.chargedMicros(honest)) * BigInt(asked);
}

/** A flood as an attack of its own. */
export const floodAttack = (flood: Flood): Attack => ({
  name: `flood: ${flood.name}`,
  run: async (scene): Promise<Outcome> => {
    const results: Flooded[] = [];
    const probes = await probesOf(scene, 0);
    const measured = await besideVictim(scene.victim, probes[flood.probe], async () => {
      const flow = await prepareFlood(flood, scene);
      results.push(await flow(sleep(ATTACK_MS * scene.intensity.scale)));
    });
    const worst = results.toSorted((one, other) => other.breaches.length - one.breaches.length)[0];
    return {
      ...measured,
      breaches: [...measured.breaches, ...(worst?.breaches ?? [])],
      ...(worst && { bill: worst, keptBytes: worst.keptBytes }),
    };
  },
});

/** Accounts of which a request was taken. */
const taken = new Set<string>();

/** A request that may be refused or put off, and never break: what else came, in a sentence. */
async function mayBeRefused({ target }: Scene, { key, accountId }: Tenant, request: Request): Promise<string[]> {
  const answer = await send(target.url, key, request);
  if (answer.status === 200) taken.add(accountId);
  return wrongOf(request, answer);
}

const wrongOf = ({ method, path }: Request, { status, text }: Answer): string[] =>
  status >= 500 && status !== 503 && status !== 529
    ? [
        `${method} ${path.replaceAll(/(file|vs|task)\w*_\w+/g, 'ID')} was answered with ${status}: ${text.slice(0, 120)}`,
      ]
    : [];

/** A request that is to be refused by name: once more where the gateway has no room to look at it. */
async function mustBeRefused({ target }: Scene, { key }: Tenant, request: Request): Promise<string[]> {
  const { status } = await eventually(
    async () => {
      const answer = await send(target.url, key, request);
      return answer.status === 503 ? undefined : answer;
    },
    { pauseMs: 1_000 },
  );
  return status < 400 || status >= 500
    ? [`${request.path} was answered with ${status}: ${textOf(request.body ?? '').slice(0, 100)}`]
    : [];
}

const post = (path: string, body: JsonObject): Request => ({ method: 'POST', path, body });
const get = (path: string): Request => ({ method: 'GET', path });

async function dataOf<Data>({ target }: Scene, { key }: Tenant, request: Request): Promise<Data> {
  const { status, text } = await send(target.url, key, request);
  if (status !== 200) throw new Error(`${request.method} ${request.path} was answered with ${status}: ${text}`);
  return JSON.parse(text) as Data;
}

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse' };
/** Takes inline images. */
const INLINE_IMAGE = { ...IMAGE, model: 'kappa-a-4-0' };
const ORDERS = '/v1/images/generations';

/** How long tasks may take to end that no vendor was asked for, in milliseconds. */
const ENDS_WITHIN_MS = 150_000;

/** Every task of the account ends: those that wait when it calls them off, the others by themselves. */
export async function tasksEnd({ target }: Scene, { accountId, key }: Tenant): Promise<string[]> {
  const open = async (): Promise<string[]> =>
    (
      await target.rows<{ id: string }>(
        `select id from task where account_id = $1 and state not in ('completed', 'failed', 'cancelled')`,
        accountId,
      )
    ).map(({ id }) => id);
  for (const id of await open()) await send(target.url, key, post(`/v1/tasks/${id}/cancel`, {}));
  return eventually(async () => (await open()).length === 0, { limitMs: ENDS_WITHIN_MS, pauseMs: 250 }).then(
    () => [],
    async () => [`${(await open()).length} tasks have not ended`],
  );
}

/** Texts that grow when they are rewritten, behind one that does not: percent signs, punycode, or quoting. */
const GROWING = [
  'a'.repeat(2_000),

  '\u5b57'.repeat(2_000),
  '\u{1f600}'.repeat(900),
  '" <>`'.repeat(380),
  '\u00e9'.repeat(1_000),
];

const growingAddresses: Flood = {
  name: 'webhook addresses that grow when they are written',
  money: '10',
  parallel: 2,
  pauseMs: 100,
  probe: 'image',
  keptMiB: 16,
  prepare: async (scene, attacker) => ({
    hit: async (nth) => {
      const grown = GROWING[nth % GROWING.length] ?? '';
      const { origin } = new URL(scene.receivers.goodUrl);
      const places = [`/${grown}`, `/?${grown}`, `/#${grown}`, `.example.com/`];
      const place = places[Math.floor(nth / GROWING.length) % places.length] ?? '';
      const url = place.startsWith('.') ? `http://${grown.slice(0, 1_900)}${place}` : `${origin}${place}`;
      return nth % 2 === 0
        ? mayBeRefused(scene, attacker, post(ORDERS, { ...IMAGE, webhook_url: url }))
        : mayBeRefused(scene, attacker, post('/v1/webhooks/endpoints', { url }));
    },
    afterwards: () => tasksEnd(scene, attacker),
  }),
};

const manyServers: Flood = {
  name: 'servers of tools without number',
  isRefused: true,
  money: '0.000001',
  parallel: 6,
  pauseMs: 100,
  probe: 'text',
  keptMiB: 1,
  prepare: async (scene, attacker) => ({
    hit: (nth) => {
      const servers = Array.from({ length: [16, 900, 17, 20_000][nth % 4] ?? 0 }, (_, index) => ({
        type: 'mcp',
        server_label: `s${index}`,
        server_url: `${scene.receivers.silentUrl(nth + index)}?${index}`,
        require_approval: 'never',
      }));
      const body = nth % 2 === 0 ? { ...(textRequest('responses', 'chat', false).body as JsonObject) } : undefined;
      if (body) return mustBeRefused(scene, attacker, post('/v1/responses', { ...body, tools: servers }));
      const messages = textRequest('messages', 'chat', false).body as JsonObject;
      const named = servers.map(({ server_label: name, server_url: url }) => ({ type: 'url', name, url }));
      return mustBeRefused(scene, attacker, post('/v1/messages', { ...messages, mcp_servers: named }));
    },
  }),
};

/** The same of an account that can pay: the servers are called, within its share. */
const silentServers: Flood = {
  name: 'servers of tools that never answer',
  isRefused: true,
  money: '50',
  parallel: 12,
  pauseMs: 100,
  probe: 'text',
  keptMiB: 1,
  prepare: async (scene, attacker) => ({
    hit: (nth) => {
      const tools = Array.from({ length: 16 }, (_, index) => ({
        type: 'mcp',
        server_label: `s${index}`,
        server_url: `${scene.receivers.silentUrl(nth * 16 + index)}?${nth}`,
        require_approval: 'never',
        timeout: 3,
      }));
      const request = textRequest('responses', 'chat', false, { tools }, `For ${attacker.accountId}`);
      return mayBeRefused(scene, attacker, request);
    },
  }),
};

async function upload(scene: Scene, attacker: Tenant, content: Buffer, name: string, purpose = 'assistants') {
  const body = new FormData();
  body.append('purpose', purpose);
  body.append('file', new Blob([content]), name);
  return dataOf<{ id: string }>(scene, attacker, { method: 'POST', path: '/v1/files', body });
}

const LARGE_TEXT_MIB = 2;
const wordsOf = (bytes: number): Buffer => {
  const words: string[] = [];
  let length = 0;
  for (let nth = 0; length < bytes; nth += 1) {
    const word = `word${(nth * 7_919) % 50_021}`;
    words.push(word);
    length += word.length + 1;
  }
  return Buffer.from(words.join(' '));
};

/** A vector store with one file in tens of thousands of passages. */
async function largeStore(scene: Scene, attacker: Tenant): Promise<{ store: string; file: string }> {
  const { id: file } = await upload(scene, attacker, wordsOf(LARGE_TEXT_MIB * MEBIBYTE), 'large.txt');
  const { id: store } = await dataOf<{ id: string }>(scene, attacker, post('/v1/vector_stores', {}));
  const chunking = { type: 'static', static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 50 } };
  const path = `/v1/vector_stores/${store}/files`;
  await dataOf(scene, attacker, post(path, { file_id: file, chunking_strategy: chunking }));
  const isRead = async (): Promise<boolean> =>
    (await dataOf<{ status: string }>(scene, attacker, get(`${path}/${file}`))).status === 'completed';
  await eventually(isRead, { limitMs: 120_000, pauseMs: 200 });
  return { store, file };
}

const largeReads: Flood = {
  name: 'reads and searches of a file in 40,000 passages',
  money: '1',
  parallel: 12,
  pauseMs: 600,
  probe: 'text',
  keptMiB: 200,
  prepare: async (scene, attacker) => {
    const { store, file } = await largeStore(scene, attacker);
    const query = Array.from({ length: 8 }, (_, nth) =>
      Array.from({ length: 60 }, (_w, word) => `word${nth * 64 + word}`).join(' '),
    );
    return {
      hit: (nth) =>
        mayBeRefused(
          scene,
          attacker,
          nth % 2 === 0
            ? get(`/v1/vector_stores/${store}/files/${file}/content`)
            : post(`/v1/vector_stores/${store}/search`, { query, max_num_results: 50 }),
        ),
    };
  },
};

const MANY_TASKS = 60_000;
const ADD_TASKS = `
insert into task (id, account_id, api_key_id, medium, path, family, model, mode, parameters, state, hold_micros,
  billing_unit, billing_variant, billing_settle, quantity, request_id, deadline_at, finished_at)
select 'task_' || lpad($1 || nth::text, 26, '0'), $2, (select id from api_key where account_id = $2 limit 1), 'image',
  '${ORDERS}', 'eta', 'eta-image-2.0', 'text-to-image', jsonb_build_object('prompt', repeat(md5(nth::text), 60)), 'failed', 0,
  'image', '1K', 'per-output', 1, 'req', now(), now()
from generate_series(1, ${MANY_TASKS}) as nth`;

/** Asked with the session of a browser as well as with the key. */
const LISTS = [
  '/v1/tasks?model=no-such-model&limit=1',
  '/v1/tasks?status=completed&limit=100',
  '/v1/tasks?limit=100',
  '/v1/usage?from=2026-01-01&to=2026-12-31&format=csv',
  '/v1/ledger?format=csv',
  '/v1/usage/records?limit=100',
  '/v1/vector_stores?limit=100',
  '/v1/files?limit=10000',
  '/v1/webhooks/deliveries?limit=100',
  '/console/api/tasks?text=lighthouses',
  '/console/api/tasks?limit=200',
  '/console/api/overview',
  '/console/api/usage',
  '/console/api/keys',
  '/console/api/billing/entries?format=csv',
  '/console/api/usage/records?format=csv',
] as const;

async function signIn({ target }: Scene, { key }: Tenant): Promise<string> {
  const { status, headers, text } = await send(target.url, key, {
    ...post('/console/api/sign-in/key', { key }),
    headers: { 'sec-fetch-site': 'same-origin', 'x-console': '1' },
  });
  if (status !== 200) throw new Error(`signing in was answered with ${status}: ${text}`);
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}

const longLists: Flood = {
  name: 'lists, exports and the console of an account with 60,000 tasks',
  money: '1',
  parallel: 12,
  pauseMs: 600,
  probe: 'text',
  keptMiB: 400,
  prepare: async (scene, attacker) => {
    const digits = String(Date.now() % 1_000_000);
    await scene.target.rows(ADD_TASKS, digits, attacker.accountId);
    const cookie = await signIn(scene, attacker);
    return {
      hit: async (nth) => {
        const path = LISTS[nth % LISTS.length] ?? LISTS[0];
        return mayBeRefused(scene, attacker, { ...get(path), headers: { cookie } });
      },
      // They were never held for, which the ledger would tell.
      tidy: () => scene.target.rows('delete from task where account_id = $1', attacker.accountId),
    };
  },
};

const everOtherCuts: Flood = {
  name: 'batches that cut files in ever other ways, and files that hardly end',
  money: '1',
  parallel: 4,
  pauseMs: 100,
  probe: 'file',
  keptMiB: 64,
  prepare: async (scene, attacker) => {
    const files: string[] = [];
    for (let nth = 0; nth < 100; nth += 1)
      files.push((await upload(scene, attacker, Buffer.from(`The lighthouse number ${nth} is lit.`), 'a.txt')).id);
    for (let nth = 0; nth < 4; nth += 1)
      files.push((await upload(scene, attacker, endlessPdfSample(), 'endless.pdf')).id);
    const stores: string[] = [];
    for (let nth = 0; nth < 10; nth += 1)
      stores.push((await dataOf<{ id: string }>(scene, attacker, post('/v1/vector_stores', {}))).id);
    return {
      hit: async (nth) => {
        const chunking = {
          type: 'static',
          static: { max_chunk_size_tokens: 100 + (nth % 3_000), chunk_overlap_tokens: 0 },
        };
        const path = `/v1/vector_stores/${stores[nth % stores.length]}/file_batches`;
        return mayBeRefused(scene, attacker, post(path, { file_ids: files, chunking_strategy: chunking }));
      },
      afterwards: () => indexesBounded(scene, attacker),
      tidy: async () => {
        for (const id of files)
          await send(scene.target.url, attacker.key, { method: 'DELETE', path: `/v1/files/${id}` });
      },
    };
  },
};

async function indexesBounded({ target }: Scene, { accountId }: Tenant): Promise<string[]> {
  const [found] = await target.rows<{ waiting: number; batches: number }>(
    `select (select count(*)::integer from file_index where account_id = $1 and state in ('waiting', 'working')) as waiting,
      (select count(*)::integer from file_batch b join vector_store s on s.id = b.vector_store_id where s.account_id = $1) as batches`,
    accountId,
  );
  return [
    ...((found?.waiting ?? 0) > 10_000 ? [`${found?.waiting} cuts wait`] : []),
    ...((found?.batches ?? 0) > 2_000 ? [`${found?.batches} batches are kept`] : []),
  ];
}

const picture = (side: number): string => {
  const image = pngSample({ width: side, height: side });
  return Buffer.concat([image, Buffer.alloc(MEBIBYTE, 7)]).toString('base64');
};

const cancelledOrders: Flood = {
  name: 'cancelled orders with inline images',
  money: '10',
  parallel: 2,
  pauseMs: 200,
  probe: 'text',
  keptMiB: 32,
  prepare: async (scene, attacker) => {
    const images = Array.from({ length: 4 }, (_, nth) => `data:image/png;base64,${picture(256 + nth)}`);
    return {
      hit: async () => {
        const order = post(ORDERS, { ...INLINE_IMAGE, prompt: '[sandbox:delay=60000] x', image_urls: images });
        const answer = await send(scene.target.url, attacker.key, order);
        const id = /"task_id":"([^"]+)"/.exec(answer.text)?.[1];
        if (id === undefined) return wrongOf(order, answer);
        return mayBeRefused(scene, attacker, post(`/v1/tasks/${id}/cancel`, {}));
      },
      afterwards: () => tasksEnd(scene, attacker),
    };
  },
};

const storedPictures: Flood = {
  name: 'stored responses with inline images',
  money: '10',
  parallel: 2,
  pauseMs: 200,
  probe: 'text',
  keptMiB: 1_100,
  isPaid: true,
  prepare: async (scene, attacker) => {
    const url = `data:image/png;base64,${picture(64)}`;
    return {
      hit: (nth) => {
        const text = `${attacker.accountId} shows the picture ${nth}`;
        const content = [
          { type: 'input_text', text },
          { type: 'input_image', image_url: url },
        ];
        const request = textRequest('responses', 'responses', false, {
          store: true,
          input: [{ role: 'user', content }],
        });
        return mayBeRefused(scene, attacker, request);
      },
    };
  },
};

const endlessRows: Flood = {
  name: 'rows that are made and removed without end',
  money: '1',
  parallel: 4,
  pauseMs: 100,
  probe: 'text',
  keptMiB: 4,
  prepare: async (scene, attacker) => {
    const { id: store } = await dataOf<{ id: string }>(scene, attacker, post('/v1/vector_stores', {}));
    const { id: file } = await upload(scene, attacker, Buffer.from('A lighthouse.'), 'a.txt');
    return {
      hit: async (nth) => {
        if (nth % 3 === 0)
          return mayBeRefused(scene, attacker, post(`/v1/vector_stores/${store}/file_batches`, { file_ids: [file] }));
        if (nth % 3 === 1) {
          const made = await send(scene.target.url, attacker.key, post('/v1/vector_stores', {}));
          const id = /"id":"(vs_[^"]+)"/.exec(made.text)?.[1];
          return id === undefined
            ? []
            : mayBeRefused(scene, attacker, { method: 'DELETE', path: `/v1/vector_stores/${id}` });
        }
        const endpoint = post('/v1/webhooks/endpoints', { url: `https://hooks.example.com/${nth}` });
        const made = await send(scene.target.url, attacker.key, endpoint);
        const id = /"id":"([^"]+)"/.exec(made.text)?.[1];
        return id === undefined
          ? wrongOf(endpoint, made)
          : mayBeRefused(scene, attacker, { method: 'DELETE', path: `/v1/webhooks/endpoints/${id}` });
      },
    };
  },
};

const silentReferences: Flood = {
  name: 'references at hosts that never answer',
  money: '50',
  parallel: 4,
  pauseMs: 200,
  probe: 'image',
  keptMiB: 16,
  prepare: async (scene, attacker) => ({
    hit: (nth) => {
      const urls = Array.from(
        { length: 24 },
        (_, index) => `${scene.receivers.silentUrl(nth * 24 + index)}${index}.png`,
      );
      return mayBeRefused(scene, attacker, post(ORDERS, { ...IMAGE, image_urls: urls }));
    },
    afterwards: () => tasksEnd(scene, attacker),
  }),
};

/** What the compose file gives a process for what it writes for a moment. */
const TEMPORARY_MIB = 64;

const longReferences: Flood = {
  name: 'long references at a host without ranges',
  money: '100',
  parallel: 4,
  pauseMs: 200,
  probe: 'image',
  keptMiB: 16,
  prepare: async (scene, attacker) => {
    const { target, receivers } = scene;
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, target.fileBytes().temporary)), 100);
    return {
      hit: (nth) => {
        const urls = Array.from({ length: 4 }, (_, index) => `${receivers.longFileUrl}?${nth}-${index}`);
        return mayBeRefused(
          scene,
          attacker,
          nth % 2 === 0
            ? post('/v1/videos/generations', { model: 'beta-2.7-r2v', prompt: 'x', video_urls: urls.slice(0, 3) })
            : post(ORDERS, { ...IMAGE, image_urls: urls }),
        );
      },
      afterwards: async () => {
        clearInterval(watch);
        const found = await tasksEnd(scene, attacker);
        return most > TEMPORARY_MIB * MEBIBYTE
          ? [...found, `${Math.round(most / MEBIBYTE)} MiB of temporary files`]
          : found;
      },
    };
  },
};

const refusedUploads: Flood = {
  name: 'uploads that are refused at their end',
  isRefused: true,
  money: '1',
  parallel: 4,
  pauseMs: 100,
  probe: 'file',
  keptMiB: 1,
  prepare: async (scene, attacker) => {
    const content = new Blob([Buffer.alloc(20 * MEBIBYTE, 'x')]);
    const { stored } = scene.target.fileBytes();
    return {
      hit: () => {
        const body = new FormData();
        body.append('file', content, 'a.txt');
        body.append('purpose', 'no-such-purpose');
        return mayBeRefused(scene, attacker, { method: 'POST', path: '/v1/files', body });
      },
      afterwards: () =>
        eventually(() => scene.target.fileBytes().stored - stored < 40 * MEBIBYTE, {
          limitMs: 120_000,
          pauseMs: 200,
        }).then(
          () => [],
          () => [`${Math.round((scene.target.fileBytes().stored - stored) / MEBIBYTE)} MiB of refused files are left`],
        ),
    };
  },
};

const SLOW_WORD = 'as slowly as you can';

const slowStreams: Flood = {
  name: 'two hundred slow streams at once',
  money: '50',
  parallel: 200,
  pauseMs: 200,
  probe: 'text',
  keptMiB: 4,
  isPaid: true,
  prepare: async (scene, attacker) => {
    scene.vendor.planFor.set(SLOW_WORD, { ...PLAIN, countAfterMs: 10_000 });
    return {
      hit: (nth) =>
        mayBeRefused(
          scene,
          attacker,
          textRequest('responses', 'responses', true, {}, `${SLOW_WORD}, ${attacker.accountId} ${nth}`),
        ),
    };
  },
};

const LEFT_WORD = 'and who leaves';

const leftStreams: Flood = {
  name: 'streams that are left before their count',
  // None is waited for.
  isRefused: true,
  money: '50',
  parallel: 4,
  pauseMs: 200,
  probe: 'text',
  keptMiB: 4,
  isPaid: true,
  prepare: async (scene, attacker) => {
    scene.vendor.planFor.set(LEFT_WORD, { ...PLAIN, countAfterMs: 500 });
    return {
      hit: async (nth) => {
        const request = textRequest('responses', 'responses', true, {}, `${LEFT_WORD}, ${attacker.accountId} ${nth}`);
        await sendAndLeave(scene.target.url, attacker.key, request, { whenReceived: 'forty two', afterMs: 20_000 });
        return [];
      },
    };
  },
};

const MARK = 'item-that-is-not-there';

const provokedRefusals: Flood = {
  name: 'requests that a vendor refuses for what they name',
  isRefused: true,
  money: '10',
  parallel: 4,
  pauseMs: 200,
  probe: 'text',
  keptMiB: 4,
  prepare: async (scene, attacker) => {
    const body = { error: { type: 'server_error', message: `failed on ${MARK}` } };
    scene.vendor.planFor.set(MARK, { ...PLAIN, refuse: () => ({ status: 500, body }) });
    const answer = textRequest('responses', 'responses', false, {}, MARK);
    return {
      hit: async () => {
        await send(scene.target.url, attacker.key, answer);
        return [];
      },
    };
  },
};

const silentReceivers: Flood = {
  name: 'webhooks of cancelled orders to receivers that never answer',
  money: '10',
  parallel: 2,
  pauseMs: 200,
  probe: 'image',
  keptMiB: 16,
  prepare: async (scene, attacker) => ({
    hit: async (nth) => {
      const webhook = { webhook_url: scene.receivers.silentUrl(nth) };
      const order = post(ORDERS, { ...IMAGE, prompt: '[sandbox:delay=60000] x', ...webhook });
      const answer = await send(scene.target.url, attacker.key, order);
      const id = /"task_id":"([^"]+)"/.exec(answer.text)?.[1];
      if (id === undefined) return wrongOf(order, answer);
      return mayBeRefused(scene, attacker, post(`/v1/tasks/${id}/cancel`, {}));
    },
  }),
};

const DEAR_BODIES: readonly (() => string)[] = [
  () => `{"q":[${'{},'.repeat(1_000_000)}{}]}`,
  () => '['.repeat(4_000_000),
  () => `{"prompt":"${'\\u0000'.repeat(1_000_000)}"}`,
  () => `{"model":"vendor-5","input":"${'a'.repeat(8_000_000)}"}`,
];
const TEXT_PATHS = ['/v1/responses', '/v1/messages', '/v1/chat/completions', '/v1/quote'];

const dearBodies: Flood = {
  name: 'bodies that are dear to read',
  isRefused: true,
  money: '0.000001',
  parallel: 2,
  pauseMs: 500,
  probe: 'text',
  keptMiB: 1,
  prepare: async (scene, attacker) => {
    const bodies = DEAR_BODIES.map((make) => make());
    return {
      hit: (nth) => {
        const path = TEXT_PATHS[nth % TEXT_PATHS.length] ?? '';
        const body = bodies[Math.floor(nth / TEXT_PATHS.length) % bodies.length] ?? '';
        return mustBeRefused(scene, attacker, { method: 'POST', path, body });
      },
    };
  },
};

/** Every flood: what one account does to all others, one row for each class. */
export const FLOODS: readonly Flood[] = [
  growingAddresses,
  manyServers,
  silentServers,
  largeReads,
  longLists,
  everOtherCuts,
  cancelledOrders,
  storedPictures,
  endlessRows,
  silentReferences,
  longReferences,
  refusedUploads,
  slowStreams,
  leftStreams,
  provokedRefusals,
  silentReceivers,
  dearBodies,
];
