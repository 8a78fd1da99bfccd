import {
  failedBecause,
  familyOf,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MediaFailure,
  MODEL_IDS,
  type Operation,
  type OperationState,
  parseMicros,
  type TaskView,
  type UpstreamOutput,
  type VendorCost,
} from '#contracts';
import { wrappedIn } from '../../http/envelopes.js';
import { stateWord, vendorId, VendorErrors } from '../http/failure-rules.js';
import {
  bearer,
  fieldIn,
  isDone,
  type MediaCodec,
  NotMakeable,
  type ReadState,
  taskTraits,
  type VendorReply,
  type VendorRequest,
  type Verb,
} from '../http/media-codec.js';

const ERRORS = new VendorErrors(
  [
    { code: ['task_not_found'], is: 'lost' },
    // A reseller's own word for it. A path that is not there is called otherwise.
    { code: ['*_not_found'], on: ['check'], is: 'lost' },
    { status: [402], is: 'unpaid' },
    // The other side does not sell this model, or not to us.
    {
      code: ['model_not_allowed', 'model_not_available', 'model_not_found', 'model_not_priced'],
      is: 'not_served_model',
    },
    // The first sending of the same order is still being read there: sent again, it gets that one's answer.
    { code: ['idempotency_in_flight'], on: ['start'], is: 'unanswered' },
    { status: [408], on: ['start'], is: 'unanswered' },
    { status: [404, 405], is: 'not_served' },
    { code: ['unsupported_parameter', 'request_too_large', 'unknown_parameter'], on: ['start'], is: 'not_possible' },
    { code: ['invalid_media'], on: ['start', 'work'], is: 'file' },
    { code: ['content_policy'], on: ['start'], is: 'content' },
    { status: [400, 422], on: ['start'], is: 'parameter' },
    { code: ['cancelled'], on: ['work'], is: 'stopped' },
    { code: ['content_policy'], on: ['work'], is: 'result' },
    { code: ['deadline_exceeded'], on: ['work'], is: 'expired' },
  ],
  (body) => fieldIn(body, 'error'),
);

/** Why another gateway did not do what was asked. */
function readGatewayFailure(reply: VendorReply, verb: Verb): MediaFailure {
  const param = fieldIn(fieldIn(reply.body, 'error'), 'param');
  return ERRORS.read(reply, verb, typeof param === 'string' ? { param } : {});
}

/** How a task that the other gateway gave up looks here. */
const failedTask = (code: JsonValue | undefined): OperationState =>
  failedBecause(code === 'nothing_delivered' ? code : ERRORS.ofWork({ code: code ?? '' }));

type View = Pick<TaskView, 'status' | 'result' | 'error' | 'usage'> & { readonly progress?: number };

/** The other gateway keeps a key for 24 hours, longer than any deadline of a family. */
const IDEMPOTENCY_HEADER = 'idempotency-key';

/**
 * This very API as an upstream: another instance of the gateway, or a reseller with the same API. The caller's fields are passed on
 * unchanged, under their own names.
 */
export const gatewayCodec: MediaCodec = {
  protocol: 'gateway',
  traits: taskTraits({
    repeatStart: 'idempotent',
    firstCheckMs: 500,
    // No longer than the steady pace of polling, so that finished work is visible within 2 s.
    checkEveryMs: 1_000,
  }),
  domains: [],
  models: new Map(MODEL_IDS.map((model) => [model, model])),
  authorization: bearer,
  referenceForm: () => 'source',

  writeStart: (order, ticket) => {
    const family = familyOf(order.model);
    if (!family) throw new NotMakeable('model', `${order.model} is not offered here.`);
    return {
      method: 'POST',
      path: family.path,
      headers: { [IDEMPOTENCY_HEADER]: order.taskId },
      // Every default is said, so that both sides agree on it; a gateway takes its own checked fields again.
      body: { ...order.parameters, model: ticket.model },
    };
  },

  readStart: (body, order) => {
    const named = wrappedIn(body).find(({ task_id: id }) => vendorId(id) !== undefined);
    if (named === undefined) return undefined;
    const taskId = vendorId(named['task_id']) as string;
    return { kind: 'operation', operation: { taskId, medium: order.medium, count: order.output.count } };
  },

  nameOf: ({ taskId }) => taskId as string,
  writeCheck: (operation) => ({ method: 'GET', path: taskPath(operation) }),
  readCheck: (body, operation) => stateOf(viewIn(body), operation),
  readFailure: readGatewayFailure,
  // A gateway that sheds load has not read the order.
  isCertainlyNotTaken: ({ body }) => fieldIn(fieldIn(body, 'error'), 'code') === 'overloaded',

  writeCancel: (operation): VendorRequest => ({ method: 'POST', path: `${taskPath(operation)}/cancel` }),
  readCancel,

  fileAddress: ownAddress,

  verification: { method: 'GET', path: '/v1/balance' },
  readCost: (body) => costOf(body),
};

/** A link of the other gateway itself, which may want the key of a caller; it may leave its own host out. */
function ownAddress(url: string, origin: string): string | undefined {
  if (!/^(?:https?:|\/)/i.test(url) || !URL.canParse(url, origin)) return undefined;
  const address = new URL(url, origin);
  return address.origin === origin ? address.href : undefined;
}

const taskPath = ({ taskId }: Operation): string => `/v1/tasks/${encodeURIComponent(taskId as string)}`;

/** The innermost that says a state. @throws TypeError when there is none. */
function viewIn(body: JsonObject): View {
  const view = wrappedIn(body).findLast(({ status }) => typeof status === 'string');
  if (!view) throw new TypeError('no task view');
  return view as unknown as View;
}

const UNDER_WAY: ReadonlySet<string | undefined> = new Set(['submitted', 'in_progress', 'queued', 'processing']);

function stateOf(view: View, operation: Operation): ReadState | undefined {
  const word = stateWord(view.status);
  if (UNDER_WAY.has(word)) return { state: 'pending', ...progressOf(view) };
  switch (word) {
    case undefined:
      return undefined;
    case 'succeeded':
      return delivered(view, operation);
    case 'failed':
      return failedTask(view.error?.code);
    case 'cancelled':
      return failedTask('cancelled');
    default:
      return { state: 'strange', word };
  }
}

function delivered(view: View, { medium, count }: Operation): OperationState {
  const outputs = outputsOf(view, medium === 'image' ? 'image' : 'video');
  const delivered = outputs.filter(({ role }) => role === 'output').length;
  if (delivered === 0) return failedTask('nothing_delivered');
  const missing = Array.from({ length: Math.max(0, Number(count) - delivered) }, (_, index) => ({
    ordinal: delivered + index,
    code: 'upstream_error' as const,
    publicReason: 'The vendor delivered fewer files than were ordered.',
  }));
  return { state: 'succeeded', outputs, ...(missing.length > 0 && { missing }) };
}

const progressOf = ({ progress }: View): { progressPercent?: number } =>
  typeof progress === 'number' && progress >= 0 ? { progressPercent: Math.min(99, Math.floor(progress)) } : {};

function outputsOf({ result }: View, medium: 'image' | 'video'): UpstreamOutput[] {
  const files = (medium === 'image' ? result?.images : result?.videos) ?? [];
  const outputs = files.flatMap(({ url, content_type: contentType, duration, expires_at: expiresAt }) =>
    typeof url !== 'string'
      ? []
      : [
          {
            role: 'output' as const,
            contentType,
            url,
            ...(typeof duration === 'number' && { seconds: duration }),
            ...(typeof expiresAt === 'number' && { expiresAtMs: expiresAt * 1_000 }),
          },
        ],
  );
  const lastFrame = result?.last_frame_url;
  if (typeof lastFrame !== 'string') return outputs;
  return [...outputs, { role: 'last_frame', contentType: 'image/png', url: lastFrame }];
}

function readCancel({ status, body }: VendorReply): 'cancelled' | 'too_late' | undefined {
  if (status === 409) return 'too_late';
  if (!isDone(status) || !isJsonObject(body)) return undefined;
  return stateWord(viewIn(body).status) === 'cancelled' ? 'cancelled' : 'too_late';
}

/** What the other gateway charged: known when its task has ended. */
function costOf(body: JsonObject): VendorCost | undefined {
  const usage = wrappedIn(body).findLast((each) => isJsonObject(each['usage']))?.['usage'];
  if (!isJsonObject(usage)) return undefined;
  const { amount, unit, final } = usage;
  if (final !== true || typeof amount !== 'string' || typeof unit !== 'string') return undefined;
  return { micros: parseMicros(amount), unit };
}
