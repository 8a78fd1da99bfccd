// Runs programs inside the file system of an image as a container engine would with `read_only`, `cap_drop: [ALL]`,
// `no-new-privileges`, a tmpfs on /tmp and volumes: mount namespace, read-only bind mount, chroot, the image's own user.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Mounts inside a namespace of its own, so that nothing has to be undone. Arguments: root, user, volumes, --, command. */
const ENTER = `
set -e
root=$1; user=$2; shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
while [ "$1" != -- ]; do mount --bind "\${1%%:*}" "$root/\${1#*:}"; shift; done
shift
mount -o remount,ro,bind "$root"
mount -t tmpfs -o size=64m,mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
exec setpriv --no-new-privs --inh-caps=-all chroot --userspec="$user" --groups= "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$@"
`;

export class Image {
  constructor(root, settings) {
    this.root = root;
    this.settings = settings;
  }

  /** Starts a command of the image, as `docker run IMAGE COMMAND...` would; `entrypoint` replaces the image's own. */
  start(command, { environment = {}, volumes = [], entrypoint = this.settings.Entrypoint } = {}) {
    const inherited = Object.fromEntries(this.settings.Env.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
    const args = ['--mount', 'sh', '-c', ENTER, 'enter', this.root, this.settings.User, ...volumes, '--'];
    const child = spawn('unshare', [...args, this.settings.WorkingDir, ...entrypoint, ...command], {
      env: { ...inherited, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new Running(child, command.join(' '));
  }

  async run(command, options) {
    const running = this.start(command, options);
    return { code: await running.exited, output: running.output };
  }
}

class Running {
  output = '';

  constructor(child, name) {
    this.child = child;
    this.name = name;
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (this.output += chunk.toString()));
    this.exited = once(child, 'close').then(([code]) => code);
  }

  /** Resolves once `check` does without throwing. @throws Error with the output after a minute, or when it ended. */
  async until(check) {
    for (const deadline = Date.now() + 60_000; ;) {
      try {
        return await check();
      } catch (error) {
        if (this.child.exitCode !== null || Date.now() > deadline)
          throw new Error(`${this.name} is not ready (${error.message}): ${this.output}`, { cause: error });
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  stop(signal = 'SIGTERM') {
    this.child.kill(signal);
    return this.exited;
  }
}
