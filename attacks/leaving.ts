import { eventually } from '#testing';
import type { Attack, Bill, Outcome, Scene } from './attack.js';
import { type Goodbye, pipelineAndLeave, send, sendAndLeave, type Style, STYLE_NAMES, textRequest } from './client.js';
import { PLAIN, type Plan } from './hostile-vendor.js';
import { MODEL_OVER } from './target.js';
import { type Protocol, PROTOCOLS } from './wire-formats.js';

/** What a gateway that is too slow at the moment answers, in one style or another. */
const BUSY = new Set([408, 503, 529]);
/** Much hidden thinking, reported only at the very end. */
const COSTLY: Plan = { ...PLAIN, count: { input: 3_000, output: 900, reasoning: 800 }, countAfterMs: 700 };

interface Moment {
  readonly name: string;
  readonly stream: boolean;
  readonly leave: { readonly whenReceived?: string; readonly afterMs: number; readonly goodbye?: Goodbye };
  /** Sent on one connection, one behind the other; 1 unless said. */
  readonly requests?: number;
}

const LAST_WORD = { whenReceived: 'forty two', afterMs: 5_000 };

const MOMENTS: readonly Moment[] = [
  { name: 'streamed, after the last word', stream: true, leave: LAST_WORD },
  { name: 'streamed, before any byte', stream: true, leave: { afterMs: 60 } },
  { name: 'whole, before the answer', stream: false, leave: { afterMs: 300 } },
  { name: 'streamed, by half a close', stream: true, leave: { ...LAST_WORD, goodbye: 'half-close' } },
  { name: 'streamed, by a reset', stream: true, leave: { ...LAST_WORD, goodbye: 'reset' } },
  { name: 'whole, by a reset', stream: false, leave: { afterMs: 300, goodbye: 'reset' } },
  { name: 'three at once on one connection', stream: true, leave: { ...LAST_WORD, goodbye: 'close' }, requests: 3 },
];

/** Leaves an answer early, in each style over each protocol; it must cost what staying costs. */
const leaving = (moment: Moment): Attack => ({
  name: `leave: ${moment.name}`,
  run: async (scene) => {
    scene.vendor.plan = COSTLY;
    const ways = STYLE_NAMES.flatMap((style) =>
      (Object.keys(PROTOCOLS) as Protocol[]).map((protocol) => ({ style, protocol })),
    );
    const bills = await Promise.all(
      ways.map(async ({ style, protocol }) => ({
        style,
        protocol,
        ...(await leaveOnce(scene, style, protocol, moment)),
      })),
    );
    const breaches = bills
      .filter(({ chargedMicros, dueMicros }) => chargedMicros < dueMicros)
      .map((bill) => `${bill.style} over ${bill.protocol}: charged ${bill.chargedMicros} of ${bill.dueMicros} micros`);
    return { breaches, bill: sumOf(bills) };
  },
});

async function leaveOnce(scene: Scene, style: Style, protocol: Protocol, moment: Moment): Promise<Bill> {
  const { target, vendor } = scene;
  const { stream, leave, requests = 1 } = moment;
  const stays = await scene.tenant('10');
  // On a machine that is too slow at the moment it is asked again.
  const stayed = await eventually(
    () =>
      send(target.url, stays.key, textRequest(style, protocol, stream)).then((it) => (BUSY.has(it.status) ? null : it)),
    { pauseMs: 500 },
  );
  if (stayed.status !== 200) throw new Error(`${style} over ${protocol} answered ${stayed.status}: ${stayed.text}`);
  const dueMicros = await target.chargedMicros(stays);
  const leaves = await scene.tenant('10');
  const question = `What is six times seven, asked by ${leaves.accountId}?`;
  const request = textRequest(style, protocol, stream, {}, question);
  const { goodbye } = leave;
  if (goodbye === undefined) await sendAndLeave(target.url, leaves.key, request, leave);
  else {
    const all = Array.from({ length: requests }, () => request);
    await pipelineAndLeave(target.url, leaves.key, all, { ...leave, goodbye });
  }
  const chargedMicros = await target.chargedMicros(leaves);
  // What never reached the vendor owes nothing.
  const asked = vendor.received.filter((body) => body.includes(leaves.accountId)).length;
  return { chargedMicros, dueMicros: dueMicros * BigInt(asked) };
}

const sumOf = (bills: readonly Bill[]): Bill => ({
  chargedMicros: bills.reduce((sum, bill) => sum + bill.chargedMicros, 0n),
  dueMicros: bills.reduce((sum, bill) => sum + bill.dueMicros, 0n),
});

/** Far more than the account has, asked for at once. */
const beyondBalance: Attack = {
  name: 'six answers on money for none',
  run: async ({ target, vendor, tenant }): Promise<Outcome> => {
    vendor.plan = { ...PLAIN, count: { input: 300_000, output: 60, reasoning: 0 } };
    const poor = await tenant('0.05');
    const document = { type: 'document', source: { type: 'url', url: 'https://files.example.org/long.pdf' } };
    const messages = [{ role: 'user', content: [document, { type: 'text', text: 'Sum it up.' }] }];
    const request = textRequest('messages', 'messages', false, { max_tokens: 60, messages });
    const answers = await Promise.all(Array.from({ length: 6 }, () => send(target.url, poor.key, request)));
    const served = answers.filter(({ status }) => status === 200).length;
    const chargedMicros = await target.chargedMicros(poor);
    const dueMicros = BigInt(served) * 4_504_500n;
    const breaches =
      chargedMicros < dueMicros ? [`${served} answers, and the difference is not owed by any account`] : [];
    const again = await send(target.url, poor.key, textRequest('responses', 'responses', false));
    if (served > 0 && again.status !== 402 && again.status !== 401)
      breaches.push(`an account in debt was served with ${again.status}`);
    return { breaches, bill: { chargedMicros, dueMicros } };
  },
};

/** Limits that no integer of the database can hold. */
const hugeLimits: Attack = {
  name: 'limits beyond every integer',
  run: async ({ target, vendor, tenant }): Promise<Outcome> => {
    vendor.plan = PLAIN;
    const { accountId, key } = await tenant('1');
    await target.admin('PATCH', `/accounts/${accountId}`, { unlimited: true });
    const breaches: string[] = [];
    for (const limit of ['9007199254740991', '1e300', '9223372036854775808', '-1', '0.5']) {
      const body = JSON.stringify(textRequest('messages', 'messages', false).body).replace('1000', limit);
      const { status } = await send(target.url, key, { method: 'POST', path: '/v1/messages', body });
      if (status !== 400) breaches.push(`max_tokens ${limit} was answered with ${status}`);
    }
    return { breaches };
  },
};

/** Leaves a stream and repeats it under its Idempotency-Key: a client that reads it whole in the end has paid for it. */
const repeatedStream: Attack = {
  name: 'leave: repeated under the same key',
  run: async ({ target, vendor, tenant }): Promise<Outcome> => {
    vendor.plan = COSTLY;
    const stays = await tenant('10');
    await send(target.url, stays.key, textRequest('responses', 'responses', true));
    const due = await target.chargedMicros(stays);
    const { accountId, key } = await tenant('10');
    const headers = { 'idempotency-key': 'the-same-for-all' };
    const request = { ...textRequest('responses', 'responses', true, {}, `Again for ${accountId}`), headers };
    await sendAndLeave(target.url, key, request, LAST_WORD);
    const answers = [];
    for (let count = 0; count < 3; count += 1) answers.push(await send(target.url, key, request));
    const chargedMicros = await target.chargedMicros({ accountId, key });
    const asked = vendor.received.filter((body) => body.includes(accountId)).length;
    const dueMicros = due * BigInt(Math.max(1, asked));
    const breaches = chargedMicros < dueMicros ? [`asked ${asked} times and charged ${chargedMicros} micros`] : [];
    for (const { status } of answers) if (status >= 500) breaches.push(`a repeat was answered with ${status}`);
    return { breaches, bill: { chargedMicros, dueMicros } };
  },
};

/** How many requests the money of `spentToTheEnd` covers besides what the last one holds. */
const COVERED = 20;
/** More than what one of its requests holds, and less than two of them. */
const ONE_HOLD_MICROS = 8_000n;

/** One request after the other, near the end of balance or quota: all that it covers are served, and then none. */
const spentToTheEnd: Attack = {
  name: 'one answer after the other until the money is spent',
  run: async ({ target, vendor, tenant }): Promise<Outcome> => {
    vendor.plan = PLAIN;
    const request = textRequest('messages', 'messages', false, { max_tokens: 60 });
    const rich = await tenant('10');
    await send(target.url, rich.key, request);
    const each = await target.chargedMicros(rich);
    const enough = (Number(each * BigInt(COVERED) + ONE_HOLD_MICROS) / 1_000_000).toFixed(6);
    const limited = await tenant('10');
    const { key: withQuota } = await target.admin<{ key: string }>('POST', `/accounts/${limited.accountId}/keys`, {
      name: 'limited',
      quota: enough,
    });
    const payers = { balance: await tenant(enough), quota: { ...limited, key: withQuota } };
    const breaches: string[] = [];
    let chargedMicros = 0n;
    for (const [what, payer] of Object.entries(payers)) {
      let served = 0;
      while (served < 2 * COVERED && (await send(target.url, payer.key, request)).status === 200) served += 1;
      if (served < COVERED) breaches.push(`the ${what} covers ${COVERED} requests, and ${served} were served`);
      const charged = await target.chargedMicros(payer);
      if (charged !== each * BigInt(served)) breaches.push(`${served} answers were charged with ${charged} micros`);
      chargedMicros += charged;
    }
    return { breaches, bill: { chargedMicros, dueMicros: each * BigInt(2 * COVERED) } };
  },
};

/** From so many tokens of input on a vendor takes more; what it takes then, in micros of the balance for each token. */
const LONG_FROM = 200_001;
const LONG_PRICES = { input_token: 20n, cached_input_token: 5n, output_token: 40n } as const;
const LONG_COUNT = { input: 250_000, output: 8, reasoning: 0 };

/** A prompt beyond the size from which it is dearer, which no field of the request says. */
const longPrompt: Attack = {
  name: 'a prompt beyond the size from which it costs more',
  run: async ({ target, vendor, tenant }): Promise<Outcome> => {
    vendor.plan = { ...PLAIN, count: LONG_COUNT };
    const effective = new Date(Date.now() + 2_000).toISOString();
    await target.admin('POST', '/prices/import', {
      prices: Object.entries(LONG_PRICES).map(([unit, amount]) => ({
        model: MODEL_OVER.gemini,
        unit,
        amount: String(amount),
        per_quantity: 1_000_000,
        effective_from: effective,
        from_input_tokens: LONG_FROM,
      })),
    });
    const request = textRequest('chat', 'gemini', false, {}, 'word '.repeat(LONG_COUNT.input));
    const dueMicros =
      BigInt(LONG_COUNT.input) * LONG_PRICES.input_token + BigInt(LONG_COUNT.output) * LONG_PRICES.output_token;
    // A process keeps a price that it knows for some seconds.
    const charged = eventually(
      async () => {
        const payer = await tenant('20');
        const { status, text } = await send(target.url, payer.key, request);
        if (status !== 200) throw new Error(`it was answered with ${status}: ${text.slice(0, 200)}`);
        return (await target.chargedMicros(payer)) === dueMicros;
      },
      { pauseMs: 3_000 },
    );
    const breaches = await charged.then(
      () => [],
      (error: unknown) => [String(error)],
    );
    return { breaches, bill: { chargedMicros: breaches.length === 0 ? dueMicros : 0n, dueMicros } };
  },
};

export const MONEY_ATTACKS: readonly Attack[] = [
  ...MOMENTS.map(leaving),
  repeatedStream,
  beyondBalance,
  spentToTheEnd,
  hugeLimits,
  longPrompt,
];
