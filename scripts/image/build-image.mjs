// Builds the image as a stranger would, without a container engine and without a registry of images: a clean clone of
// what git tracks, the Dockerfile and .dockerignore as they are, by buildah in its chroot isolation, on a base built from this
// machine's own Node.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** What the base images of Debian hold and a Node process in a Dockerfile needs: a shell and the basic tools. */
const PROGRAMS = [
  'sh',
  'bash',
  'find',
  'install',
  'cat',
  'ls',
  'mkdir',
  'rm',
  'env',
  'id',
  'sleep',
  'true',
  'sed',
  'uname',
];
const PASSWD = 'root:x:0:0:root:/root:/bin/bash\nnode:x:1000:1000::/home/node:/bin/bash\n';
const GROUP = 'root:x:0:\nnode:x:1000:\n';
/** How this machine reaches its package registry; each only where it is there. */
const NETWORK_FILES = ['/etc/ssl/certs/ca-certificates.crt', '/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf'];

/** Runs a program; its output is shown only when it fails. */
export function run(program, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    ...options,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stdout}\n${stderr}`);
  return stdout.trim();
}

/** The folder that `docker build .` would see after a fresh clone: what git tracks, as it is in the working tree. */
export function cleanClone() {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-image-context-'));
  const tracked = execFileSync('git', ['ls-files', '-z', '--cached'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  for (const file of tracked.split('\0').filter((name) => name !== '' && existsSync(name))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    copyFileSync(file, join(folder, file));
  }
  return folder;
}

/** Makes the local stand-in of the base image: the same Node and npm, a shell, and the libraries that they ask for. */
export function makeBase(tag, node = process.execPath) {
  const root = mkdtempSync(join(tmpdir(), 'gateway-image-base-'));
  try {
    for (const folder of [
      'tmp',
      'mnt',
      'proc',
      'sys',
      'dev',
      'etc',
      'root',
      'home/node',
      'usr/bin',
      'usr/lib',
      'usr/lib64',
    ])
      mkdirSync(join(root, folder), { recursive: true });
    chmodSync(join(root, 'tmp'), 0o1777);
    run('ln', ['-s', 'usr/bin', join(root, 'bin')]);
    run('ln', ['-s', 'usr/lib', join(root, 'lib')]);
    run('ln', ['-s', 'usr/lib64', join(root, 'lib64')]);
    writeFileSync(join(root, 'etc/passwd'), PASSWD);
    writeFileSync(join(root, 'etc/group'), GROUP);
    const programs = PROGRAMS.map((name) => run('sh', ['-c', `command -v ${name}`])).map(whole);
    const libraries = programs.concat(node).flatMap(librariesOf);
    for (const file of new Set([...programs, ...libraries, ...cLibrary(libraries)])) place(root, file, file);
    place(root, node, '/usr/bin/node');
    placeNpm(root);
    for (const file of NETWORK_FILES.filter((name) => existsSync(name))) place(root, file, file);
    commit(root, tag);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Built-in commands of the shell have no path of their own. */
const whole = (name) => (name.startsWith('/') ? name : `/usr/bin/${name}`);

function place(root, from, to) {
  const target = join(root, to);
  mkdirSync(dirname(target), { recursive: true });
  run('cp', ['-L', '--preserve=mode', from, target]);
}

/** `libc.so.6 => /lib/.../libc.so.6 (0x...)` and the loader, which stands alone. */
const librariesOf = (program) => [...run('ldd', [program]).matchAll(/(\/\S+) \(0x/g)].map(([, library]) => library);

/** The parts of the C library that nothing names until it is loaded: native packages, name resolution. */
function cLibrary(libraries) {
  const folder = dirname(libraries.find((file) => basename(file) === 'libc.so.6'));
  const parts = /^lib(rt|dl|m|pthread|resolv|util|nss_dns|nss_files)\.so\.\d+$/;
  return readdirSync(folder)
    .filter((name) => parts.test(name))
    .map((name) => join(folder, name));
}

function placeNpm(root) {
  const prefix = run('npm', ['prefix', '--global', '--silent']);
  cpSync(join(prefix, 'lib/node_modules/npm'), join(root, 'usr/lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx'])
    run('ln', ['-s', `../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/bin', name)]);
  // Settings of this machine alone, if it has any; they stay in the stand-in.
  for (const name of ['globalconfig', 'userconfig']) {
    const file = run('npm', ['config', 'get', name, '--silent']);
    const target = name === 'userconfig' ? '/root/.npmrc' : '/usr/etc/npmrc';
    if (existsSync(file)) place(root, file, target);
  }
}

function commit(root, tag) {
  const container = run('buildah', ['from', 'scratch']);
  try {
    run('buildah', ['copy', '--quiet', container, root, '/']);
    const certificates = process.env.NODE_EXTRA_CA_CERTS;
    if (certificates) run('buildah', ['config', '--env', `NODE_EXTRA_CA_CERTS=${certificates}`, container]);
    run('buildah', ['commit', '--quiet', container, tag]);
  } finally {
    run('buildah', ['rm', container]);
  }
}

/** Builds the Dockerfile of a folder. Buildah lets a step have 1,024 files open, which `npm ci` now and then has more of. */
export function buildImage(context, base, tag) {
  const files = ['--ulimit', 'nofile=16384:16384'];
  const options = ['--isolation', 'chroot', '--network', 'host', '--format', 'docker', '--pull-never', ...files];
  console.log(run('buildah', ['build', ...options, '--build-arg', `NODE_IMAGE=${base}`, '--tag', tag, context]));
}

/** The settings that the image carries: environment, entry point, command, user, health check. */
export const settingsOf = (tag) => JSON.parse(run('buildah', ['inspect', '--type', 'image', tag])).Docker.config;
