// What stands around the gateway in docker-compose.yml, under the same names, ports and passwords: Postgres, Redis and an
// S3 store. Everything listens in the network namespace of the test alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '#platform';
import { startRedisServer, startS3Server } from '#testing';
import { LOAD_BALANCER } from './hosts.mjs';

export async function startSurroundings({ POSTGRES_PASSWORD, REDIS_PASSWORD, MINIO_PASSWORD }) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-image-services-'));
  const postgres = await startEmbeddedPostgres(folder, { settings: { fsync: 'off', max_connections: '200' } });
  await onDatabase(
    postgres.url,
    `alter role gateway password '${POSTGRES_PASSWORD}'`,
    'create database restored',
    'create database upgraded',
  );
  const forwarder = await forward(5432, Number(new URL(postgres.url).port));
  const redis = await startRedisServer(6379);
  const client = new Redis(6379);
  await client.config('SET', 'requirepass', REDIS_PASSWORD);
  client.disconnect();
  const s3 = await startS3Server({
    port: 9000,
    buckets: ['media', 'restored'],
    accessKeyId: 'gateway',
    secretAccessKey: MINIO_PASSWORD,
  });
  const nginx = startNginx(folder);
  return async () => {
    forwarder.close();
    nginx.kill();
    await Promise.all([postgres.stop(), redis.kill(), s3.close(), once(nginx, 'exit')]);
    rmSync(folder, { recursive: true, force: true });
  };
}

async function onDatabase(connectionString, ...statements) {
  const client = new Client({ connectionString });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** The embedded Postgres chooses its own port. */
async function forward(port, target) {
  const server = createServer((socket) => {
    const other = connect(target, '127.0.0.1');
    socket.on('error', () => other.destroy()).pipe(other);
    other.on('error', () => socket.destroy()).pipe(socket);
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/**
 * The load balancer with its own file. Only how names are looked up repeatedly is left out: Docker answers that, and
 * Debian's nginx is too old to ask.
 */
function startNginx(folder) {
  const site = readFileSync('deploy/nginx/gateway.conf', 'utf8')
    .replace(/^resolver .*$/m, `proxy_bind ${LOAD_BALANCER};`)
    .replace(/^ *zone .*$/m, '')
    .replace(' resolve ', ' ')
    .replace('/usr/share/nginx/runbooks/', `${process.cwd()}/docs/operations/`);
  const file = join(folder, 'nginx.conf');
  const events = 'user root; daemon off; worker_processes 1; error_log stderr; events {}';
  writeFileSync(file, `${events} pid ${folder}/nginx.pid; http { access_log off; default_type text/plain; ${site} }`);
  return spawn('nginx', ['-p', folder, '-c', file], { stdio: ['ignore', 'inherit', 'inherit'] });
}
