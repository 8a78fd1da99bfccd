// What `API_PROCESSES` gives and costs: submissions and polls with one, two and four processes on the same databases. Load and databases
// share the cores with them, so that only a machine with many shows the whole gain; what a request takes of the processor, parent and
// children together, shows on any machine what dividing costs.
import { Database } from '#platform';
import { freePort, startDurableServices } from '#testing';
import { BENCH_BODY, submit } from './gateway-pair.js';
import { type Contender, measure, printTable, startServer } from './measure.js';
import { BENCH_KEY, gatewayEnvironment } from './services.js';

const COUNTS = [1, 2, 4];
const CONNECTIONS = 64;
const ROUNDS = 8;
const VIDEOS = '/v1/videos/generations';
const HEADERS = { authorization: `Bearer ${BENCH_KEY}`, 'content-type': 'application/json' };

const services = await startDurableServices();
const servers: Omit<Contender, 'request'>[] = [];
try {
  for (const count of COUNTS) {
    const port = await freePort();
    const environment = { ...gatewayEnvironment(services), API_PROCESSES: String(count) };
    const process = await startServer(['dist/apps/api/src/main.js'], port, environment);
    servers.push({ name: `API_PROCESSES=${count}`, url: `http://127.0.0.1:${port}`, process });
  }
  const database = new Database(services.databaseUrl);
  await database.query({ text: 'update account set unlimited = true' });
  await database.close();
  const taskId = await submit(`${servers[0]?.url}${VIDEOS}`);
  const works = [
    ['Submission', { method: 'POST', path: VIDEOS, headers: HEADERS, body: BENCH_BODY }],
    ['Poll of a task', { method: 'GET', path: `/v1/tasks/${taskId}`, headers: HEADERS }],
  ] as const;
  for (const [title, request] of works) {
    const contenders = servers.map((server) => ({ ...server, request }));
    // Each process has to compile what it runs often by itself.
    await measure(contenders, CONNECTIONS, ROUNDS);
    printTable(title, await measure(contenders, CONNECTIONS, ROUNDS), CONNECTIONS, ROUNDS);
  }
} finally {
  for (const server of servers) server.process.kill();
  await services.stop();
}
