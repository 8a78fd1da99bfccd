// What docker-compose.yml is around the built image, for a test: its secrets and settings as .env and the file give them,
// its commands, its volumes, and the servers beside it.
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gatewayServices } from './compose.mjs';
import { Image } from './container.mjs';
import { HOSTS } from './hosts.mjs';
import { startSurroundings } from './surroundings.mjs';

export class ComposePlace {
  #stop;

  /** @param settings lines for .env, as an operator would add them. */
  constructor({ root, settings, clone }, lines) {
    this.image = new Image(root, settings);
    this.folder = mkdtempSync(join(tmpdir(), 'gateway-image-run-'));
    rmSync(join(clone, '.env'), { force: true });
    execFileSync('sh', [join(clone, 'scripts/init-env.sh')]);
    for (const [name, value] of Object.entries(lines)) appendFileSync(join(clone, '.env'), `${name}=${value}\n`);
    this.services = gatewayServices(clone);
    writeFileSync(join(this.folder, 'hosts'), HOSTS);
  }

  /** A folder that the user of the image may write to. */
  writableFolder(name) {
    const folder = join(this.folder, name);
    mkdirSync(folder, { recursive: true });
    chownSync(folder, 1000, 1000);
    chmodSync(folder, 0o777);
    return folder;
  }

  /** Volumes of a container: the names of the others, and its data. */
  volumes(name) {
    return [`${join(this.folder, 'hosts')}:etc/hosts`, `${this.writableFolder(name)}:data`];
  }

  async open() {
    this.#stop = await startSurroundings(this.services.api.environment);
  }

  async close() {
    await this.#stop?.();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
