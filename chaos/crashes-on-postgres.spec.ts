import { scenario, survives } from './drills.js';

describe('The gateway under crashes, queues in Postgres', () => {
  survives('postgres', [
    scenario({ crash: 'after-task-written', fault: 'none', vendor: 'idempotent' }),
    scenario({ crash: 'after-vendor-start', fault: 'none', vendor: 'lookup' }),
    scenario({ crash: 'after-vendor-check', fault: 'none', vendor: 'inline' }),
    scenario({ crash: 'after-file-copied', fault: 'none', vendor: 'call' }),
    scenario({ crash: 'inside start', fault: 'some tasks are poison', vendor: 'idempotent' }),
    scenario({ crash: 'any moment', fault: 'Postgres black-hole', vendor: 'idempotent' }),
  ]);
});
