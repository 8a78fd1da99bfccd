import { inspect } from 'node:util';
import {
  isJsonObject,
  type JsonValue,
  MEDIA_REASONS,
  MediaFailure,
  type MediaUpstream,
  type Operation,
  type OperationState,
  type UpstreamOutput,
  type Started,
  TASK_FAILURES,
} from '#contracts';
import type { VendorReply, VendorRequest } from '../http/media-codec.js';
import type { VendorHttp } from '../http/vendor-http.js';
import type { ConnectedFake } from './connected-fake.js';
import type { FakeProtocol } from './fake-vendor.js';
import { type ContractCase, guarantee } from './contract-case.js';

type Protocols = FakeProtocol & { readonly taken: readonly unknown[] };

/** What may be in place of anything that a vendor sends. */
const STRANGE: readonly JsonValue[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  '',
  '0',
  'no word of ours',
  'constructor',
  '__proto__',
  'http://169.254.169.254/latest/meta-data',
  'x'.repeat(20_000),
  '\0',
  [],
  [null],
  ['x'],
  {},
  { a: { b: [1] } },
];

/** Replies with one part made wrong: cases 15, 20, 24 and 44 at every place of every reply. */
export function hostileContract<Protocol extends Protocols>(
  contract: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  secretsContract(contract, connected);
  encodedContract(contract, connected);
  guarantee('15: takes an order for taken, refused or unknown, whichever part of the reply is strange', async () => {
    const { replies } = await genuine(contract, connected());
    const [start] = replies;
    if (!start) throw new Error('no reply to a start was seen');
    for (const body of variants(start.body)) {
      const { order, call } = connected().prepare(contract.order);
      const outcome = await outcomeOf(() => answering(connected(), { ...start, body }).start(order, call));
      expect(problemOfStart(outcome)).toBeUndefined();
      expect(call.noted().cost?.micros ?? 0n).toBeGreaterThanOrEqual(0n);
    }
  });

  guarantee('15: knows after a reply with status 200 that names no order only that it may be taken', async () => {
    const { replies } = await genuine(contract, connected());
    const [start] = replies;
    for (const body of [
      {},
      { code: 'StrangeWord', message: 'x' },
      { error: { code: 'StrangeWord' } },
      [],
      'ok',
      null,
    ]) {
      const { order, call } = connected().prepare(contract.order);
      const outcome = await outcomeOf(() =>
        answering(connected(), { ...(start as VendorReply), body }).start(order, call),
      );
      expect(outcome).toMatchObject({ kind: expect.stringMatching(/^(?:ambiguous|refused)$/) });
    }
  });

  if (contract.codec.traits.style === 'task')
    guarantee('15: ends work only by what a reply to a check says, whichever part of it is strange', async () => {
      const { replies, operation } = await genuine(contract, connected());
      for (const reply of replies.slice(1))
        for (const body of variants(reply.body)) {
          const { call } = connected().prepare(contract.order);
          const others = replies.slice(replies.indexOf(reply) + 1);
          const before = replies.slice(1, replies.indexOf(reply));
          const upstream = answering(connected(), ...before, { ...reply, body }, ...others);
          const outcome = await outcomeOf(() => upstream.check(operation, call));
          expect(problemOfState(outcome)).toBeUndefined();
        }
    });
}

function encodedContract<Protocol extends Protocols>(
  contract: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  guarantee(
    '15: tells operators the encoding of a reply that it cannot read, and takes the order for taken perhaps',
    async () => {
      const { replies } = await genuine(contract, connected());
      const unread = { ...(replies[0] as VendorReply), body: undefined, encoding: 'zstd' };
      const { order, call } = connected().prepare(contract.order);
      const outcome = await outcomeOf(() => answering(connected(), unread).start(order, call));
      expect(outcome).toMatchObject({ kind: 'ambiguous', vendor: { message: expect.stringContaining('zstd') } });
    },
  );
}

function secretsContract<Protocol extends Protocols>(
  contract: ContractCase<Protocol>,
  connected: () => ConnectedFake<Protocol>,
): void {
  guarantee('10: passes the key on from no part of any reply', async () => {
    const { key } = connected().vendor.protocol;
    const { replies, operation } = await genuine(contract, connected());
    for (const [place, reply] of replies.entries())
      for (const changed of withSecret(reply, key)) {
        const { order, call } = connected().prepare(contract.order);
        const before = replies.slice(1, place);
        const upstream = answering(connected(), ...(place === 0 ? [] : before), changed);
        const outcome = await outcomeOf(() =>
          place === 0 ? upstream.start(order, call) : upstream.check(operation, call),
        );
        const all = [outcome, outcome instanceof MediaFailure ? outcome.vendor : null, call.noted()];
        expect(inspect(all, { depth: 20 })).not.toContain(key);
      }
  });
}

/** The replies to a start and to one check of it, as the fake gives them. */
export async function genuine<Protocol extends Protocols>(
  { order: body, codec }: ContractCase<Protocol>,
  { other, prepare }: ConnectedFake<Protocol>,
): Promise<{ readonly replies: readonly VendorReply[]; readonly operation: Operation }> {
  const replies: VendorReply[] = [];
  const upstream = other({ onExchange: ({ reply }) => void replies.push(reply) });
  const { order, call } = prepare(body);
  const started = await upstream.start(order, call);
  const operation = started.kind === 'operation' ? started.operation : {};
  if (codec.traits.style === 'task') await upstream.check(operation, call);
  return { replies, operation };
}

/** The upstream over a line on which these replies come, one after the other, and then the last of them again. */
export function answering(
  { other, vendor }: ConnectedFake<FakeProtocol>,
  ...replies: readonly VendorReply[]
): MediaUpstream & { readonly received: readonly VendorRequest[] } {
  const received: VendorRequest[] = [];
  let asked = 0;
  const exchange = (request: VendorRequest): Promise<VendorReply> => {
    received.push(request);
    const reply = replies[Math.min(asked, replies.length - 1)];
    asked += 1;
    return reply ? Promise.resolve(reply) : Promise.reject(new Error('no reply'));
  };
  // The server that took the order.
  const { host, origin } = new URL(vendor.baseUrl);
  const http = { host, origin, exchange, close: () => Promise.resolve() };
  return Object.assign(other({ http: http as unknown as VendorHttp }), { received });
}

type Outcome = Started | OperationState | MediaFailure | Error;

async function outcomeOf(call: () => Promise<Started | OperationState>): Promise<Outcome> {
  return call().catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
}

const SENTENCES: readonly string[] = Object.values(MEDIA_REASONS).map(({ publicReason }) => publicReason);

function problemOfFailure(failure: Error, kinds: readonly string[]): string | undefined {
  if (!(failure instanceof MediaFailure)) return `threw ${failure.stack ?? failure.message}`;
  if (!kinds.includes(failure.kind)) return `is ${failure.kind}`;
  return SENTENCES.some((known) => failure.publicReason.endsWith(known)) ? undefined : failure.publicReason;
}

function problemOfStart(outcome: Outcome): string | undefined {
  if (outcome instanceof Error)
    return problemOfFailure(outcome, ['ambiguous', 'refused', 'unsupported', 'unfit', 'busy']);
  if (!('kind' in outcome)) return 'is no start';
  if (outcome.kind === 'finished') return problemOfOutputs(outcome.outputs);
  const json = JSON.stringify(outcome.operation);
  return json.length < 4_096 && !json.includes('null') ? undefined : `hands over ${json.slice(0, 200)}`;
}

function problemOfState(outcome: Outcome): string | undefined {
  if (outcome instanceof Error) return problemOfFailure(outcome, ['unavailable', 'busy', 'unfit']);
  if (!('state' in outcome)) return 'is no state';
  if (outcome.state === 'succeeded') return problemOfOutputs(outcome.outputs);
  if (outcome.state === 'failed')
    return outcome.code in TASK_FAILURES && SENTENCES.includes(outcome.publicReason) ? undefined : outcome.publicReason;
  const { progressPercent: progress = 0 } = outcome;
  return progress >= 0 && progress < 100 ? undefined : `is ${progress} % done`;
}

function problemOfOutputs(outputs: readonly UpstreamOutput[]): string | undefined {
  const isSound = ({ url, seconds = 1, expiresAtMs = 0 }: UpstreamOutput): boolean =>
    typeof url === 'string' && url !== '' && url.length < 10_000 && seconds > 0 && Number.isFinite(expiresAtMs);
  return outputs.length > 0 && outputs.every(isSound) ? undefined : `delivers ${JSON.stringify(outputs).slice(0, 200)}`;
}

/** The reply with a secret in place of each of its parts, in an error, and in its headers. */
function* withSecret(reply: VendorReply, secret: string): Generator<VendorReply> {
  for (const body of variants(reply.body, [secret, `https://vendor.example/${secret}`])) yield { ...reply, body };
  const error = { code: secret, message: secret, status: secret, request_id: secret };
  for (const status of [400, 401, 429, 500])
    yield { status, headers: { 'x-request-id': secret }, body: { ...error, error } };
}

/** The body with each of its parts, down to the last, replaced by each strange thing, or left out. */
function* variants(body: JsonValue | undefined, things: readonly JsonValue[] = STRANGE): Generator<JsonValue> {
  yield* things;
  if (Array.isArray(body)) {
    for (const [index, part] of body.entries())
      for (const variant of variants(part, things)) yield body.with(index, variant) as JsonValue;
    return;
  }
  if (!isJsonObject(body)) return;
  for (const [name, part] of Object.entries(body)) {
    const { [name]: _left, ...rest } = body;
    yield rest;
    for (const variant of variants(part, things)) yield { ...rest, [name]: variant };
  }
}
