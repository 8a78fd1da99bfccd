import {
  type AlphaRequest,
  failedBecause,
  isJsonObject,
  type JsonObject,
  type Operation,
  type OperationState,
  type PlannedOrder,
  type UpstreamOutput,
} from '#contracts';
import {
  bearer,
  cancelledBy,
  fieldIn,
  type FileAddress,
  framesOf,
  type MediaCodec,
  type ReadState,
  taskTraits,
} from '../http/media-codec.js';
import { costIn, stateBy, taken } from '../http/failure-rules.js';
import { ARK_ERRORS } from './ark-failures.js';

/** Request body for the alpha family: Seedance 2.0. */
function mapAlpha(order: PlannedOrder, model: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & AlphaRequest;
  framesOf(order, file, 'image_with_roles');
  return {
    model,
    content: [...(asked.prompt === undefined ? [] : [{ type: 'text', text: asked.prompt }]), ...files(order, file)],
    // Sent even where they are the vendor's defaults: its pages do not agree on these.
    duration: asked.duration,
    ratio: asked.size,
    resolution: asked.resolution,
    generate_audio: asked.generate_audio,
    return_last_frame: asked.return_last_frame,
    ...(asked.seed !== undefined && { seed: asked.seed }),
    ...(asked.tools !== undefined && { tools: asked.tools.map(({ type }) => ({ type })) }),
  };
}

const ROLES = { first_frame: 'first_frame', last_frame: 'last_frame' } as const;

/** Images, videos and sounds in the order in which a prompt counts them. */
const files = ({ references }: PlannedOrder, file: FileAddress): JsonObject[] =>
  references.map(({ param, medium, role }) => {
    const url = file(param);
    if (medium === 'video') return { type: 'video_url', video_url: { url }, role: 'reference_video' };
    if (medium === 'audio') return { type: 'audio_url', audio_url: { url }, role: 'reference_audio' };
    const frame = role === 'first_frame' || role === 'last_frame' ? ROLES[role] : 'reference_image';
    return { type: 'image_url', image_url: { url }, role: frame };
  });

const TASKS = '/contents/generations/tasks';
const LINK_LIFE_MS = 24 * 60 * 60_000;

const taskPath = ({ id }: Operation): string => `${TASKS}/${encodeURIComponent(id as string)}`;

/** How long the vendor may go on with an order, in seconds; its own default is 48 hours. */
const EXPIRY = { setting: 'execution_expires_after', least: 3_600, most: 259_200 } as const;

/** Videos from Volcengine Ark and BytePlus ModelArk. */
export const arkVideoCodec: MediaCodec = {
  configured: ({ settings }) => {
    const { [EXPIRY.setting]: seconds } = settings;
    if (seconds === undefined) return arkVideoCodec;
    const writeStart: MediaCodec['writeStart'] = (...order) => {
      const request = arkVideoCodec.writeStart(...order);
      return { ...request, body: { ...request.body, [EXPIRY.setting]: seconds } };
    };
    return { ...arkVideoCodec, writeStart };
  },
  settingsMistakes: (settings) =>
    Object.entries(settings).flatMap(([name, value]): [string, string][] => {
      const { setting, least, most } = EXPIRY;
      if (name !== setting) return [[name, `is not a setting of this protocol; it has ${setting}`]];
      const isWhole = typeof value === 'number' && Number.isInteger(value);
      return isWhole && value >= least && value <= most
        ? []
        : [[name, `must be a whole number from ${least} to ${most}`]];
    }),
  protocol: 'ark-video',
  traits: taskTraits({ firstCheckMs: 10_000, checkEveryMs: 5_000 }),
  defaultBaseUrl: 'https://ark.ap-southeast.bytepluses.com/api/v3',
  domains: ['bytepluses.com', 'volces.com'],
  // The face models need assets of people who agreed, which this protocol cannot make.
  models: new Map([
    ['alpha-2.0', 'dreamina-seedance-2-0-260128'],
    ['alpha-2.0-fast', 'dreamina-seedance-2-0-fast-260128'],
  ]),
  marks: ['id', 'status'],
  authorization: bearer,
  // Videos are taken by link only.
  referenceForm: ({ medium }, way) => (medium === 'video' ? 'url' : (way ?? 'sent')),

  callback: { field: 'callback_url' },
  writeStart: (order, ticket, file) => ({ method: 'POST', path: TASKS, body: mapAlpha(order, ticket.model, file) }),
  readStart: ({ id }, { parameters }) => taken(id, { lastFrame: parameters['return_last_frame'] === true }),

  nameOf: ({ id }) => id as string,
  writeCheck: (operation) => ({ method: 'GET', path: taskPath(operation) }),
  readCheck: stateOf,
  readFailure: ARK_ERRORS.read,

  cancelForgets: true,
  writeCancel: (operation) => ({ method: 'DELETE', path: taskPath(operation) }),
  // A task is deleted while it waits, and refused while it runs.
  readCancel: cancelledBy(400, 404, 409),

  verification: { method: 'GET', path: `${TASKS}?page_num=1&page_size=1` },
  readCost: ({ usage }) => costIn('tokens', fieldIn(usage, 'total_tokens')),
};

function stateOf(body: JsonObject, operation: Operation): ReadState | undefined {
  return stateBy(body['status'], ['queued', 'running'], {
    succeeded: () => delivered(body, operation),
    failed: () => failedBecause(ARK_ERRORS.ofWork(body['error'])),
    cancelled: () => failedBecause('work_stopped'),
    expired: () => failedBecause('work_expired'),
  });
}

function delivered(body: JsonObject, { lastFrame }: Operation): OperationState {
  const content = isJsonObject(body['content']) ? body['content'] : {};
  const { video_url: video, last_frame_url: frame } = content;
  if (typeof video !== 'string') return failedBecause('nothing_delivered');
  const { updated_at: updatedAt, duration } = body;
  const life = typeof updatedAt === 'number' ? { expiresAtMs: updatedAt * 1_000 + LINK_LIFE_MS } : {};
  // Some replies say it as a text; what is no number is left out where files are checked.
  const seconds = duration === undefined ? {} : { seconds: Number(duration) };
  const outputs: UpstreamOutput[] = [{ role: 'output', contentType: 'video/mp4', url: video, ...seconds, ...life }];
  if (lastFrame === true && typeof frame === 'string')
    outputs.push({ role: 'last_frame', contentType: 'image/png', url: frame, ...life });
  return { state: 'succeeded', outputs };
}
