import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject, TaskView } from '#contracts';

/** An answer, its body parsed when it is JSON. */
export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** What most answers look like: `data` on success, `error` on refusal. */
export interface Envelope<Data = JsonObject> {
  readonly code: number;
  readonly message?: string;
  readonly data: Data;
  readonly error?: { readonly code: string; readonly param: string | null };
}

const WAIT_MS = 100_000;

/** HTTP with one credential, as curl would send it. */
export class Client {
  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  /** The same credential at another address. */
  at(url: string): Client {
    return new Client(url, this.token);
  }

  async send<Body = Envelope>(
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<Body>> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: (text ? JSON.parse(text) : null) as Body };
  }

  /** The `data` of an answer. @throws Error with the answer unless it is 2xx. */
  async data<Data = JsonObject>(method: string, path: string, body?: object): Promise<Data> {
    const answer = await this.send<Envelope<Data>>(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  }

  /** Orders a task and answers its id. */
  async submit(path: string, order: object): Promise<string> {
    const [made] = await this.data<{ task_id: string }[]>('POST', path, order);
    if (!made) throw new Error(`${path} answered no task`);
    return made.task_id;
  }

  /** Waits for the end of a task as the guide does, with `wait`. @throws Error after 100 s. */
  async finished(taskId: string): Promise<TaskView> {
    const deadline = Date.now() + WAIT_MS;
    while (Date.now() < deadline) {
      const task = await this.data<TaskView>('GET', `/v1/tasks/${taskId}?wait=10`);
      if (task.usage.final) return task;
    }
    throw new Error(`task ${taskId} did not end`);
  }
}

/** Waits until something is there. @throws Error that names it after 100 s. */
export async function eventually<Found>(what: string, look: () => Promise<Found | undefined>): Promise<Found> {
  const deadline = Date.now() + WAIT_MS;
  while (Date.now() < deadline) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(50);
  }
  throw new Error(`${what} never came`);
}
