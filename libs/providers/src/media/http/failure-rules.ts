import {
  failedBecause,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MediaFailure,
  type MediaFailureDetails,
  type MediaFailureKind,
  type MediaFailureScope,
  type MediaReason,
  type Operation,
  type OperationState,
  type Started,
  type UpstreamOutput,
  type VendorCost,
  type VendorWords,
} from '#contracts';
import { isLike } from '../../check-fields.js';
import { resumesInMs } from '../../resumes-in.js';
import { isDone, type MediaCodec, type ReadState, type VendorReply, type Verb } from './media-codec.js';

const MAX_MESSAGE = 1_000;
const CODE = /^[\w.:-]{1,128}$/;
const LINK = /\b(?:https?|data):\S+/gi;
const SIGNED_TOKEN = /\beyJ[\w-]+\.[\w-]+\.?[\w-]*/g;
const REQUEST_ID_HEADERS = ['x-request-id', 'x-fal-request-id', 'x-tt-logid', 'trace-id', 'request-id'] as const;
/** Beyond this, signed requests and expiry dates go wrong; in milliseconds. */
const NOTABLE_SKEW_MS = 60_000;
const REQUEST_ID = /^[\w.:=/+-]{1,128}$/;

/** The words of an error object, for operators: codes that are words, sentences without links. */
export function wordsOf(status: number | undefined, error: JsonValue | undefined): VendorWords {
  const { code, message } = isJsonObject(error) ? error : {};
  return {
    ...(status !== undefined && { status }),
    ...((typeof code === 'string' || typeof code === 'number') && CODE.test(String(code)) && { code: String(code) }),
    ...(typeof message === 'string' &&
      message !== '' && {
        message: message.replace(LINK, '[link]').replace(SIGNED_TOKEN, '[token]').slice(0, MAX_MESSAGE),
      }),
  };
}

const first = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** The vendor's id of the request, from the headers, else from `request_id` of the body. */
export function requestIdOf({ headers, body }: VendorReply): string | undefined {
  const inBody = isJsonObject(body) ? body['request_id'] : undefined;
  const id = REQUEST_ID_HEADERS.map((name) => first(headers[name])).find((value) => value !== undefined) ?? inBody;
  return typeof id === 'string' && REQUEST_ID.test(id) ? id : undefined;
}

/** How long the vendor asks to be left alone, in milliseconds: seconds, or a date, which is of the vendor's own clock. */
function retryAfterMsOf({ headers }: VendorReply): number | undefined {
  const sent = first(headers['retry-after'])?.trim();
  if (sent === undefined) return undefined;
  const itsNowMs = Date.parse(first(headers['date']) ?? '') || Date.now();
  const ms = /^\d+(?:\.\d+)?$/.test(sent) ? Math.ceil(Number(sent) * 1_000) : Date.parse(sent) - itsNowMs;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

/** How far the vendor's clock is ahead of ours, in milliseconds; undefined when it does not say. */
export function clockAheadMs({ headers }: VendorReply, nowMs = Date.now()): number | undefined {
  const ms = Date.parse(first(headers['date']) ?? '') - nowMs;
  return Number.isNaN(ms) ? undefined : ms;
}

/** The same where it matters; undefined otherwise. */
export function notableSkewMs(reply: VendorReply, nowMs?: number): number | undefined {
  const ms = clockAheadMs(reply, nowMs);
  return ms !== undefined && Math.abs(ms) > NOTABLE_SKEW_MS ? ms : undefined;
}

/** Longer than any vendor's; what is longer is no name of anything. */
const MAX_ID = 512;
/** Printed characters of ASCII: ids stand in paths, where one or two dots would name another place. */
const ID = /^(?!\.{1,2}$)[\x21-\x7e]+$/;

/** The vendor's name of something, which may come as a text or as a number. Undefined: it is none that can be asked for. */
export function vendorId(value: JsonValue | undefined): string | undefined {
  const id = typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? String(value) : value;
  return typeof id === 'string' && id.length <= MAX_ID && ID.test(id) ? id : undefined;
}

/** Work that was taken, under the vendor's name of it. Undefined: that is none. @param more what questions about it need besides. */
export function taken(name: JsonValue | undefined, more: Operation = {}): Started | undefined {
  const id = vendorId(name);
  return id === undefined ? undefined : { kind: 'operation', operation: { ...more, id } };
}

/** The end of work that makes one video. */
export const deliveredVideo = (url: JsonValue | undefined, more: Partial<UpstreamOutput> = {}): OperationState =>
  typeof url === 'string' && url !== ''
    ? { state: 'succeeded', outputs: [{ role: 'output', contentType: 'video/mp4', url, ...more }] }
    : failedBecause('nothing_delivered');

/** Words that mean a good end wherever they are said: proxies and new releases of a vendor change one for another. */
const GOOD_ENDS: ReadonlySet<string> = new Set([
  'complete',
  'completed',
  'done',
  'finished',
  'succeed',
  'success',
  'successful',
]);

/** What some write before each of their words, as in `TASK_STATUS_FAILED`. */
const STATUS = /^[a-z_]{0,64}status_/;

/** The word for a state in small letters, with `_` between its parts, and `succeeded` for every good end. */
export function stateWord(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string') return undefined;
  const word = value
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')
    .replace(STATUS, '');
  return GOOD_ENDS.has(word) ? 'succeeded' : word;
}

/** What a vendor's word for a state says. @param pending words for work under way. @param ends what follows from each other word. */
export function stateBy(
  said: JsonValue | undefined,
  pending: readonly string[],
  ends: Readonly<Record<string, () => ReadState>>,
): ReadState | undefined {
  const word = stateWord(said);
  if (typeof said !== 'string' || word === undefined) return undefined;
  if (pending.includes(word)) return { state: 'pending' };
  return Object.hasOwn(ends, word) ? ends[word]?.() : { state: 'strange', word: said };
}

/** Words that mean a bad end wherever they are said. */
const BAD_ENDS: ReadonlyMap<string, MediaReason> = new Map(
  Object.entries({
    aborted: 'work_stopped',
    canceled: 'work_stopped',
    cancelled: 'work_stopped',
    error: 'work_failed',
    errored: 'work_failed',
    expired: 'work_expired',
    fail: 'work_failed',
    failed: 'work_failed',
    failure: 'work_failed',
    rejected: 'work_failed',
    terminated: 'work_stopped',
    timed_out: 'work_expired',
    timeout: 'work_expired',
  } as const),
);

/** The end that a vendor tells in a word which its own pages do not have; undefined: the work may continue. */
export function badEndOf(word: string): OperationState | undefined {
  const reason = BAD_ENDS.get(stateWord(word) ?? '');
  return reason && failedBecause(reason);
}

/** The most that the database keeps, and what a unit looks like. */
const MOST_MICROS = 2n ** 63n - 1n;
const UNIT = /^\w{1,32}$/;

/** What the vendor takes for an order. What it says that cannot be kept counts as nothing said: it must not lose the order. */
export function statedCost(body: JsonObject, codec: MediaCodec): VendorCost | undefined {
  try {
    const cost = codec.readCost?.(body);
    return cost && cost.micros >= 0n && cost.micros <= MOST_MICROS && UNIT.test(cost.unit) ? cost : undefined;
  } catch {
    return undefined;
  }
}

/** An amount of a text: whole, or with decimal places, of which six count. */
const DECIMAL = /^(\d{1,18})(?:\.(\d{1,18}))?$/;
const PLACES = 6;

/**
 * A cost in millionths of `unit`, from a number or a decimal text: vendors change between the two, and proxies too.
 * Undefined: it is no amount.
 */
export function costIn(unit: string, amount: JsonValue | undefined): VendorCost | undefined {
  const text = typeof amount === 'number' && Number.isFinite(amount) ? decimalOf(amount) : amount;
  const [, whole, parts = ''] = typeof text === 'string' ? (DECIMAL.exec(text.trim()) ?? []) : [];
  if (whole === undefined) return undefined;
  return { micros: BigInt(whole + parts.slice(0, PLACES).padEnd(PLACES, '0')), unit };
}

const decimalOf = (amount: number): string => (Number.isSafeInteger(amount) ? String(amount) : amount.toFixed(PLACES));

/** What a failure is taken for: whose fault it is and what is tried next (`kind`), what it says something about, and the customer's words. */
interface Blame {
  readonly kind: MediaFailureKind;
  readonly reason: MediaReason;
  /** Absent: the vendor account. */
  readonly scope?: MediaFailureScope;
}

/** Every way in which vendors fail. docs/media-upstreams.md says what follows from each. */
const BLAMES = {
  // The operator's: another upstream is asked, and this one rests until it was mended, or until the time that the vendor names.
  wrong_key: { kind: 'unfit', reason: 'wrong_key' },
  unpaid: { kind: 'unfit', reason: 'not_paid' },
  unpaid_model: { kind: 'unfit', reason: 'not_paid', scope: 'model' },
  not_served: { kind: 'unfit', reason: 'not_served' },
  not_served_model: { kind: 'unfit', reason: 'not_served', scope: 'model' },
  // The vendor's: another upstream is asked, or the same one later.
  busy: { kind: 'busy', reason: 'busy' },
  busy_model: { kind: 'busy', reason: 'busy', scope: 'model' },
  busy_running: { kind: 'busy', reason: 'busy', scope: 'running' },
  away: { kind: 'unavailable', reason: 'away' },
  /** The order may have been taken: it is sent nowhere else. */
  unanswered: { kind: 'ambiguous', reason: 'unanswered' },
  // The order's: the customer is told, and nobody else is asked.
  content: { kind: 'refused', reason: 'content_refused' },
  prompt: { kind: 'refused', reason: 'prompt_refused' },
  reference: { kind: 'refused', reason: 'reference_refused' },
  face: { kind: 'refused', reason: 'face_refused' },
  result: { kind: 'refused', reason: 'result_refused' },
  file: { kind: 'refused', reason: 'reference_unusable' },
  parameter: { kind: 'refused', reason: 'parameter_refused' },
  /** Another upstream may be able to make it. */
  not_possible: { kind: 'unsupported', reason: 'not_possible' },
  // What became of work that was taken.
  failed: { kind: 'refused', reason: 'work_failed' },
  stopped: { kind: 'refused', reason: 'work_stopped' },
  expired: { kind: 'refused', reason: 'work_expired' },
  lost: { kind: 'refused', reason: 'work_lost' },
} as const satisfies Readonly<Record<string, Blame>>;

/** What was asked when it failed; `work`: the error stands in the state of work that was taken. */
type Asked = Verb | 'work';

/** One line of a vendor's table of errors: the failures that it is about, and what they are taken for. */
interface FailureLine {
  /** In `*` of a code stands anything. Absent: every code, and none. */
  readonly code?: readonly string[];
  /** `broken`: 500 and above. */
  readonly status?: readonly number[] | 'broken';
  /** In the vendor's sentence. */
  readonly says?: RegExp;
  /** Absent: whatever was asked. */
  readonly on?: readonly Asked[];
  readonly is: keyof typeof BLAMES;
}

/** A vendor's errors. The first line that fits says what one is taken for. */
type FailureTable = readonly FailureLine[];

/** Verbs of questions about work, which may be put again. */
export const QUESTIONS = ['check', 'result', 'find', 'cancel', 'verify'] as const satisfies readonly Verb[];

const A_PERIOD = String.raw`(?<![a-z])per[-_ ](?:day|week|month)(?![a-z])`;

/** Allowances of a period, in the sentences of all vendors: waiting for a moment is of no use. */
export const PERIOD_QUOTA = new RegExp(
  [
    String.raw`(?:\b(?:daily|weekly|monthly|hourly|\d+[- ]hours?)\b|${A_PERIOD}).{0,60}\b(?:quota|limit|allowance)`,
    String.raw`\b(?:quota|limit|allowance)\b.{0,60}(?:\b(?:daily|weekly|monthly)\b|${A_PERIOD}|\b(?:for )?(?:today|this (?:week|month))\b)`,
  ].join('|'),
  'i',
);

const FILE = String.raw`\b(?:images?|videos?|audios?|sounds?|files?|media|urls?|links?|frames?|\w+_(?:images?|videos?|audios?|urls?))\b`;
const UNREAD = String.raw`\b(?:download|fetch|retriev|decod|load|access|open|reach|pars|read)\w*\b`;
const NOT = String.raw`\b(?:fail\w*|unable|cannot|can't|could ?n[o']t|can ?not|not|error)\b`;

/**
 * A file of the order that could not be fetched or read, in the sentences of all vendors. Whose words they are decides no more
 * than what the customer is told: an order may hold such words itself.
 */
export const UNUSABLE_FILE = new RegExp(
  [
    `${NOT}.{0,30}${UNREAD}.{0,40}${FILE}`,
    `${FILE}.{0,60}${NOT}.{0,20}${UNREAD}`,
    String.raw`\b(?:invalid|unsupported|corrupt\w*|broken)\s(?:image|video|audio|file|media)(?:\s(?:format|file|data|url|type|content))?\b`,
    String.raw`\bnot in a valid base64\b|\bimage (?:pixel|size|ratio|format|resolution)\w* is (?:invalid|too|not)\b`,
  ].join('|'),
  'i',
);
/** Statuses of an order that is refused for what it holds; 0: of work that was taken. */
const ABOUT_THE_ORDER = [0, 200, 400, 413, 415, 422];
const UNUSABLE: FailureLine = { status: ABOUT_THE_ORDER, says: UNUSABLE_FILE, on: ['start', 'work'], is: 'file' };

/**
 * Codes of resellers and of compatible services, whichever vendor's protocol they speak. They are read before the vendor's own, and
 * no sentence is: what a reseller lacks must not become the fault of an order, nor an order's words that of a reseller.
 */
const ANYBODYS: FailureTable = [
  {
    code: [
      'insufficient_*quota',
      'insufficient_balance',
      'insufficient_credit*',
      'Insufficient*Balance',
      'credits_exhausted',
    ],
    is: 'unpaid',
  },
  { code: ['invalid_api_key', 'InvalidApiKey', 'authentication_error', 'AuthenticationError'], is: 'wrong_key' },
  { code: ['model_not_found', 'ModelNotFound', 'model_not_available'], is: 'not_served_model' },
];

/** What is common to all vendors, where the vendor's own table has no line. */
const COMMON: FailureTable = [
  UNUSABLE,
  { status: [429], says: PERIOD_QUOTA, is: 'unpaid' },
  { status: [429], is: 'busy' },
  { status: 'broken', is: 'away' },
  { status: [402], is: 'unpaid' },
  // No order can make a key wrong, so this closes the upstream for all accounts at once; 403 may mean one account's files or words.
  { status: [401], is: 'wrong_key' },
  { status: [403], is: 'not_served' },
  // It was read late, or in part: what lies between may have passed the order on.
  { status: [408], on: ['start'], is: 'unanswered' },
  { status: [425], is: 'away' },
  { status: [410], on: ['check', 'result'], is: 'lost' },
  // A refused poll says nothing about the work.
  { on: QUESTIONS, is: 'away' },
  { status: [404, 410], on: ['start'], is: 'not_served_model' },
  // No order of a caller makes an address wrong, or a region forbidden.
  { status: [405, 451], is: 'not_served' },
];

/** What is read of a failure. Codes and sentences that are absent are empty; work that failed has no status of its own. */
interface Failed {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly asked: Asked;
}

const isStatus = (line: NonNullable<FailureLine['status']>, status: number): boolean =>
  line === 'broken' ? status >= 500 : line.includes(status);

const fits = ({ code, status, says, on }: FailureLine, failed: Failed): boolean =>
  (code === undefined || code.some((pattern) => isLike(pattern, failed.code))) &&
  (status === undefined || isStatus(status, failed.status)) &&
  (says === undefined || says.test(failed.message)) &&
  (on === undefined || on.includes(failed.asked));

/** Undefined: no line is about it. */
const lineFor = (table: FailureTable, failed: Failed): FailureLine | undefined =>
  [...ANYBODYS, ...table, ...COMMON].find((line) => fits(line, failed));

/**
 * An error inside a reply that says "200": one that is unspecific or unknown does not prove that
 * the order was not taken.
 */
const isTakenPerhaps = (line: FailureLine | undefined, status: number, verb: Verb): boolean =>
  verb === 'start' && isDone(status) && (line === undefined || BLAMES[line.is].kind === 'unavailable');

/** The words of every vendor for too many requests. */
const TOO_MANY = /rate.?limit|throttl|too.?many/i;

/** The status that an error inside a reply of status 200 would have had: proxies answer so. */
function saidStatus(status: number, code: string): number {
  if (!isDone(status)) return status;
  if (/^[45]\d\d$/.test(code)) return Number(code);
  return TOO_MANY.test(code) ? 429 : status;
}

/** The errors of a vendor: its table, and where a reply holds the error that the table is about; the reply itself unless that is said. */
export class VendorErrors {
  constructor(
    private readonly table: FailureTable,
    private readonly errorIn: (body: JsonValue | undefined) => JsonValue | undefined = (body) => body,
  ) {}

  /** The failure that a reply tells; what no line is about cannot be made here. */
  readonly read = (reply: VendorReply, verb: Verb, details: MediaFailureDetails = {}): MediaFailure => {
    const vendor: VendorWords = wordsOf(reply.status, this.errorIn(reply.body));
    const { code = '', message = '' } = vendor;
    const line = lineFor(this.table, { status: saidStatus(reply.status, code), code, message, asked: verb });
    const isUnsure = isTakenPerhaps(line, reply.status, verb);
    const { kind, reason, scope }: Blame = BLAMES[isUnsure ? 'unanswered' : (line?.is ?? 'not_possible')];
    const rests = kind === 'busy' || kind === 'unfit';
    const retryAfterMs = retryAfterMsOf(reply) ?? (rests ? resumesInMs(message) : undefined);
    return new MediaFailure(kind, reason, {
      ...details,
      vendor,
      ...(scope && { scope }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  };

  /** The failure inside a reply of status 200. */
  inside(body: JsonObject, verb: Verb): MediaFailure {
    return this.read({ status: 200, headers: {}, body }, verb);
  }

  /**
   * Why work that was taken failed, by the error in its state: what the order holds, what the vendor lacked, or, where the table
   * has no line for it, nothing that anybody can tell.
   */
  ofWork(error: JsonValue | undefined): MediaReason {
    const { code = '', message = '' } = wordsOf(undefined, error);
    const failed: Failed = { status: 0, code, message, asked: 'work' };
    const line = [...this.table, UNUSABLE].find((candidate) => fits(candidate, failed));
    const { kind, reason } = BLAMES[line?.is ?? 'failed'];
    return kind === 'ambiguous' ? 'work_failed' : reason;
  }
}
