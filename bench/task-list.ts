// A list of 20 finished tasks with a file each: what it costs the API process. `npm run bench:list -- /path/to/built/checkout` compares
// another checkout in turn, on the same database.
import { FIRST_ACCOUNT_ID } from '#features';
import { Database } from '#platform';
import { freePort, startDurableServices } from '#testing';
import { type Contender, measure, printTable, startServer } from './measure.js';
import { BENCH_KEY, gatewayEnvironment } from './services.js';
import { addTasks, finishTasks } from './task-rows.js';

const CONNECTIONS = 16;
const TASKS = 60;

const [other] = process.argv.slice(2);
const services = await startDurableServices();
const environment = { ...gatewayEnvironment(services), FREE_REQUESTS_PER_MINUTE: '10000000' };
const contenders: Contender[] = [];
// Also when a start fails.
process.on('exit', () => contenders.forEach(({ process: server }) => server.kill()));
try {
  for (const [name, cwd] of [
    ...(other === undefined ? [] : [['other', other] as const]),
    ['this', process.cwd()] as const,
  ]) {
    const port = await freePort();
    const headers = { authorization: `Bearer ${BENCH_KEY}` };
    const server = await startServer(['dist/apps/api/src/main.js'], port, environment, { cwd });
    contenders.push({
      name: `list of 20 tasks, ${name} checkout`,
      url: `http://127.0.0.1:${port}`,
      process: server,
      request: { method: 'GET', path: '/v1/tasks?limit=20', headers },
    });
  }
  const database = new Database(services.databaseUrl);
  await database.query({
    text: `insert into api_key (id, account_id, name, prefix, key_hash)
      values ('key_' || $1, $1, 'bench', 'sk', sha256($1::bytea))`,
    values: [FIRST_ACCOUNT_ID],
  });
  await finishTasks(database, await addTasks(database, FIRST_ACCOUNT_ID, TASKS, 'running'));
  await database.close();
  printTable('List of 20 tasks', await measure(contenders, CONNECTIONS), CONNECTIONS);
} finally {
  for (const { process: server } of contenders) server.kill();
  await services.stop();
}
