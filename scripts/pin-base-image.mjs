// Pins the base of the image: asks the registry for the digest behind the tag of `ARG NODE_IMAGE` in the Dockerfile and
// writes it there. `node scripts/pin-base-image.mjs [--check]`; --check writes nothing and fails when the digest is missing
// or the tag has moved on. Needs a way to the registry of images; run it monthly and whenever Node publishes a fix.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { check: { type: 'boolean', default: false }, dockerfile: { type: 'string', default: 'Dockerfile' } },
});
const BASE = /^(ARG NODE_IMAGE=)((?:([\w.-]+(?::\d+)?)\/)?([\w./-]+):([\w.-]+))(?:@(sha256:[0-9a-f]{64}))?$/m;
/** An image for several processors has one list over its manifests; that is what a tag names. */
const LISTS = 'application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json';

try {
  const text = readFileSync(values.dockerfile, 'utf8');
  const found = BASE.exec(text);
  if (!found) throw new Error(`${values.dockerfile} names no base as ARG NODE_IMAGE=registry/name:tag.`);
  const [line, start, image, host, name, tag, pinned] = found;
  const digest = await digestOf(host === 'docker.io' ? 'registry-1.docker.io' : host, name, tag);
  if (digest === pinned) console.log(`${image} is pinned to ${digest}, which its tag names today.`);
  else if (values.check) throw new Error(`${image} is ${digest} today, and pinned to ${pinned ?? 'nothing'}.`);
  else {
    writeFileSync(values.dockerfile, text.replace(line, `${start}${image}@${digest}`));
    console.log(`Pinned ${image} to ${digest}.`);
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function digestOf(host, name, tag) {
  const scheme = /^(localhost|127\.)/.test(host) ? 'http' : 'https';
  const url = `${scheme}://${host}/v2/${name}/manifests/${tag}`;
  const ask = (headers) =>
    fetch(url, { method: 'HEAD', headers: { accept: LISTS, ...headers }, signal: AbortSignal.timeout(30_000) });
  let response = await ask({});
  if (response.status === 401) response = await ask({ authorization: `Bearer ${await tokenFor(response)}` });
  const digest = response.headers.get('docker-content-digest');
  if (!response.ok || !/^sha256:[0-9a-f]{64}$/.test(digest ?? ''))
    throw new Error(`${url} answered ${response.status} and no digest.`);
  return digest;
}

/** Registries say where a stranger gets the right to read: `Bearer realm="...",service="...",scope="..."`. */
async function tokenFor(response) {
  const challenge = response.headers.get('www-authenticate') ?? '';
  const { realm, ...query } = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
  );
  if (!realm) throw new Error(`${response.url} asks for rights and does not say where to get them.`);
  const answer = await fetch(`${realm}?${new URLSearchParams(query)}`, { signal: AbortSignal.timeout(30_000) });
  if (!answer.ok) throw new Error(`${realm} answered ${answer.status}.`);
  const { token, access_token: accessToken } = await answer.json();
  return token ?? accessToken;
}
