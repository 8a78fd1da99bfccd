import type { Attack, Bill, Outcome, Scene } from './attack.js';
import { send, sendAndLeave, type Style, STYLE_NAMES, textRequest } from './client.js';
import { PLAIN, type Plan } from './hostile-vendor.js';
import { type Protocol, PROTOCOLS } from './wire-formats.js';

/** Much hidden thinking, told only at the very end. */
const COSTLY: Plan = { ...PLAIN, count: { input: 3_000, output: 900, reasoning: 800 }, countAfterMs: 700 };

interface Moment {
  readonly name: string;
  readonly stream: boolean;
  readonly leave: { readonly whenReceived?: string; readonly afterMs: number };
}

const MOMENTS: readonly Moment[] = [
  { name: 'streamed, after the last word', stream: true, leave: { whenReceived: 'forty two', afterMs: 5_000 } },
  { name: 'streamed, before any byte', stream: true, leave: { afterMs: 60 } },
  { name: 'whole, before the answer', stream: false, leave: { afterMs: 300 } },
];

/** Leaves an answer early, in each style over each protocol; it must cost what staying costs. */
const leaving = (moment: Moment): Attack => ({
  name: `leave: ${moment.name}`,
  run: async (scene) => {
    scene.vendor.plan = COSTLY;
    const bills: Bill[] = [];
    const breaches: string[] = [];
    for (const style of STYLE_NAMES)
      for (const protocol of Object.keys(PROTOCOLS) as Protocol[]) {
        const bill = await leaveOnce(scene, style, protocol, moment);
        bills.push(bill);
        if (bill.chargedMicros < bill.dueMicros)
          breaches.push(`${style} over ${protocol}: charged ${bill.chargedMicros} of ${bill.dueMicros} micros`);
      }
    return { breaches, bill: sumOf(bills) };
  },
});

async function leaveOnce(scene: Scene, style: Style, protocol: Protocol, { stream, leave }: Moment): Promise<Bill> {
  const { target } = scene;
  const stays = await scene.tenant('10');
  const stayed = await send(target.url, stays.key, textRequest(style, protocol, stream));
  if (stayed.status !== 200) throw new Error(`${style} over ${protocol} answered ${stayed.status}: ${stayed.text}`);
  const dueMicros = await target.chargedMicros(stays);
  const leaves = await scene.tenant('10');
  const asked = scene.vendor.received.length;
  await sendAndLeave(target.url, leaves.key, textRequest(style, protocol, stream), leave);
  const chargedMicros = await target.chargedMicros(leaves);
  // A request that never reached the vendor owes nothing.
  return { chargedMicros, dueMicros: scene.vendor.received.length > asked ? dueMicros : 0n };
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
    const breaches = chargedMicros < dueMicros ? [`${served} answers, and the difference is owed by nobody`] : [];
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

export const MONEY_ATTACKS: readonly Attack[] = [...MOMENTS.map(leaving), beyondBalance, hugeLimits];
