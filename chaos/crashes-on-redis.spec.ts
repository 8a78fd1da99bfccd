import { describeWithRedis } from '#testing';
import { scenario, survives } from './drills.js';

describeWithRedis('The gateway under crashes, queues in Redis', () => {
  survives('redis', [
    scenario({ crash: 'after-start-intent', fault: 'none', vendor: 'lookup' }),
    scenario({ crash: 'any moment', fault: 'Redis flushed', vendor: 'idempotent' }),
  ]);
});
