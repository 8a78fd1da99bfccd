import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { TaskView } from '#contracts';
import { eventually } from './client.js';

/** What a webhook tells. */
export interface WebhookEvent {
  readonly type: string;
  readonly data: TaskView;
}

interface Call {
  readonly headers: Record<string, string>;
  readonly body: string;
}

function isGenuine(secret: string, { body, headers }: Call): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

/** A customer's server that takes webhooks. */
export class WebhookReceiver {
  private readonly calls: Call[] = [];
  private readonly server = createServer((request, response) => {
    void (async () => {
      const body = Buffer.concat(await (request.toArray() as Promise<Buffer[]>)).toString();
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
      this.calls.push({ headers: Object.fromEntries(headers) as Record<string, string>, body });
      response.writeHead(204).end();
    })();
  });

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    receiver.server.listen(0, '127.0.0.1');
    await once(receiver.server, 'listening');
    return receiver;
  }

  /** `host:port`, as MEDIA_FETCH_ALLOW takes it. */
  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Waits for the call about a task (or of a type) and verifies it with the library that the guide names. */
  async verified(secret: string, matches: (event: WebhookEvent) => boolean): Promise<WebhookEvent> {
    const call = await eventually('the webhook', async () =>
      this.calls.find(({ body }) => matches(JSON.parse(body) as WebhookEvent)),
    );
    if (isGenuine(secret, { ...call, body: `${call.body} ` })) throw new Error('A changed call passed for genuine.');
    return new Webhook(secret).verify(call.body, call.headers) as WebhookEvent;
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close').catch(() => undefined);
  }
}
