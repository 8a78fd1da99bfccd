// Proves the image: `npm run test:image`. Builds it from a clean clone by the Dockerfile and .dockerignore as they are, and
// runs every role, migrate, backup, restore and the health check from it, as the user without rights that it names, on a
// read-only root, with the compose file's own commands and environment, on real services; then takes the stranger's first day with it.
//
// Needs root, buildah, iproute2 and redis-server; NODE_FOR_IMAGE names the Node of the base (this one when unset).
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOSTS } from './image/hosts.mjs';
import { buildImage, cleanClone, makeBase, run, settingsOf } from './image/build-image.mjs';

/** A network of the journey's own: the names and ports of the compose file are free there, and nothing outside is reached. */
const NETWORK = `
set -e
ip link set lo up
for last in 2 77 78; do ip address add "172.30.99.$last/32" dev lo; done
mount --bind "$1" /etc/hosts
exec node --import ./scripts/typescript.mjs --no-warnings --test-reporter spec --test --test-concurrency 1 \
  scripts/image/journey.mjs scripts/image/first-day.mjs
`;
const BASE = 'localhost/gateway-base:test';
const TAG = 'localhost/generation-gateway:test';

const clone = cleanClone();
let container;
try {
  makeBase(BASE, process.env.NODE_FOR_IMAGE || process.execPath);
  buildImage(clone, BASE, TAG);
  container = run('buildah', ['from', '--pull-never', TAG]);
  const root = run('buildah', ['mount', container]);
  const megabytes = (path) => `${run('du', ['-sm', path]).split('\t', 1)[0]} MB`;
  console.log(
    `The image adds ${megabytes(`${root}/app`)} to its base, ${megabytes(`${root}/app/node_modules`)} of them packages.`,
  );
  process.exitCode = runJourney({ root, clone, settings: settingsOf(TAG) });
} finally {
  if (container) run('buildah', ['rm', container]);
  rmSync(clone, { recursive: true, force: true });
}

function runJourney(image) {
  const hosts = join(image.clone, 'hosts');
  writeFileSync(hosts, HOSTS);
  const { status } = spawnSync('unshare', ['--net', '--mount', 'sh', '-c', NETWORK, 'journey', hosts], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, IMAGE_UNDER_TEST: JSON.stringify(image) },
  });
  return status === 0 ? 0 : 1;
}
