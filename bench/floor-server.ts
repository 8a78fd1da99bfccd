// The floor: the least that could take a task or show one. No key, no checks, no money.
import { randomUUID } from 'node:crypto';
import { Queue } from 'bullmq';
import express from 'express';
import { Redis } from 'ioredis';
import pg from 'pg';

const { DATABASE_URL = '', REDIS_URL = '', PORT = '0' } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
const queue = new Queue('floor', { connection: new Redis(REDIS_URL, { maxRetriesPerRequest: 1 }), prefix: '{floor}' });
await pool.query(
  'create table if not exists floor_task (id text primary key, account_id text not null, body jsonb not null, created_at timestamptz not null default now())',
);

const app = express();
app.set('etag', false);
app.use(express.json());
app.post('/tasks', async (request, response) => {
  const id = randomUUID();
  await pool.query('insert into floor_task (id, account_id, body) values ($1, $2, $3)', [id, 'account', request.body]);
  await queue.add('task', { id }, { removeOnComplete: true });
  response.json({ code: 200, data: [{ status: 'submitted', task_id: id }] });
});
app.get('/tasks/:id', async (request, response) => {
  const { rows } = await pool.query({
    name: 'read',
    text: 'select * from floor_task where id = $1',
    values: [request.params.id],
  });
  response.json({ code: 200, data: rows[0] });
});
app.listen(Number(PORT), '127.0.0.1');
