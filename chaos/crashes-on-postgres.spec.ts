import { scenario, survives } from './drills.js';

describe('The gateway under crashes, queues in Postgres', () => {
  survives('postgres', 4_500, [
    scenario({ crash: 'after-task-written', fault: 'none', repeatStart: 'idempotent' }),
    scenario({ crash: 'after-vendor-start', fault: 'none', repeatStart: 'lookup' }),
    scenario({ crash: 'after-file-copied', fault: 'none', repeatStart: 'idempotent' }),
    scenario({ crash: 'inside start', fault: 'some tasks are poison', repeatStart: 'idempotent' }),
    scenario({ crash: 'any moment', fault: 'Postgres black-hole', repeatStart: 'idempotent' }),
  ]);
});
