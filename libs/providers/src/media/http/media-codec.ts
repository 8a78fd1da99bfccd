import {
  type CallbackRequest,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MEDIA_REASONS,
  type MediaFailure,
  type MediaOrder,
  type MediaReason,
  type MediaReference,
  type Operation,
  type OperationState,
  type PlannedOrder,
  type Started,
  type UndeliveredOutput,
  type UpstreamCallRef,
  type UpstreamOutput,
  type UpstreamTraits,
  type VendorCost,
  type Verified,
} from '#contracts';
import { NamedError, type SafeFetcher } from '#platform';

/** One request to a vendor. The key is not in it: the transport puts it into its header. */
export interface VendorRequest {
  readonly method: 'DELETE' | 'GET' | 'POST' | 'PUT';
  /** Appended to the upstream's address, or a whole address of the same origin that the vendor itself named. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}

/** A vendor's reply, read to its end. */
export interface VendorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Undefined when it was not JSON, or too long. Integers beyond 2^53 are texts. */
  readonly body: JsonValue | undefined;
  /** How the body is encoded, where it could not be read for that. */
  readonly encoding?: string;
}

type Headers = Readonly<Record<string, string>>;

/** What authenticates us to a vendor. */
export interface Credentials {
  /** The headers of one call. @throws MediaFailure when there are none to be had. */
  headers(signal: AbortSignal): Headers | Promise<Headers>;
  /** Whether headers made now may be accepted after this reply to earlier ones. Absent: they never change. */
  renewedAfter?(reply: VendorReply): boolean;
  /** Texts that must not be shown. */
  secrets(): readonly string[];
}

export const keyCredentials = (key: string, codec: Pick<MediaCodec, 'authorization'>): Credentials => ({
  headers: () => codec.authorization(key),
  secrets: () => [key],
});

export const bearer = (key: string): Headers => ({ authorization: `Bearer ${key}` });

/** Whether a status says that all went well: 200, and 202 or 204 where nothing needs to be said. */
export const isDone = (status: number): boolean => status >= 200 && status < 300;

/** Where a vendor finds a referenced file, by the file's place in the request. */
export type FileAddress = (param: string) => string;

/**
 * How a referenced file goes to a vendor. `url`: as a link. `inline`: as a data URI. `base64`: as its digits alone.
 * `sent`: as a link when the caller sent one, else as a data URI. `source`: in the caller's own words, unread.
 */
export type ReferenceForm = 'url' | 'inline' | 'base64' | 'sent' | 'source';

/** The forms between which an operator may choose, for a vendor that takes both. */
export const REFERENCE_WAYS = ['url', 'inline'] as const;
export type ReferenceWay = (typeof REFERENCE_WAYS)[number];

export type PlannedReference = Pick<MediaReference, 'param' | 'medium' | 'role' | 'source'>;

/** What a call was for; a refusal means something else in each. `result`: the second question of a check. */
export type Verb = 'start' | 'check' | 'result' | 'find' | 'cancel' | 'verify';

/**
 * What a reply says of taken work. `strange`: an undocumented word; the work continues, and the word is logged
 * once. `elsewhere`: the work has ended, and its result is in the reply to another request.
 */
export type ReadState =
  | OperationState
  | { readonly state: 'strange'; readonly word: string }
  | { readonly state: 'elsewhere'; readonly request: VendorRequest; readonly read: ReadWork };

/** Undefined when the reply is not understood. */
export type ReadWork = (body: JsonObject) => ReadState | undefined;

/** Thrown by a mapping for what its vendor lacks. */
export class NotMakeable extends NamedError {
  constructor(
    readonly param: string | undefined,
    message: string,
  ) {
    super(message);
  }
}

interface CodecEntry {
  readonly base_url?: string;
  readonly settings: JsonObject;
}

/**
 * How one protocol is spoken: pure translation, without network, clock or state. `HttpMediaUpstream` runs it.
 * Readers take what they use and nothing else. What they do not understand they answer with undefined, or break on.
 */
export interface MediaCodec {
  /** Its name in the list of protocols (`media-protocols.ts`). */
  readonly protocol: string;
  readonly traits: UpstreamTraits;
  readonly defaultBaseUrl?: string;
  /** The vendor's own domains, each with all below it: no key is sent to them without https. Empty: it has none. */
  readonly domains: readonly string[];
  /** Every model that it can write an order for, with the vendor's usual name of it. */
  readonly models: ReadonlyMap<string, string>;

  /** The region of an address, in the words of the table of traits; absent: nothing differs by region. */
  regionOf?(entry: CodecEntry): string | undefined;
  /** The codec of one entry, where its address or settings decide what is made and where. */
  configured?(entry: CodecEntry, key: string): MediaCodec;
  /** What is wrong with a key, to be read after the name of its field; nothing of the key itself. */
  keyMistake?(key: string): string | undefined;
  /** What is wrong with the settings of an entry, by name. Absent: the protocol has none. */
  settingsMistakes?(settings: JsonObject): readonly (readonly [name: string, rule: string])[];

  /** Fields by which its replies are known where a reseller wraps them. Absent: its readers look for themselves. */
  readonly marks?: readonly string[];
  authorization(key: string): Headers;
  /** Where more than the key itself is sent. */
  credentials?(key: string, parts: { readonly fetcher: SafeFetcher }): Credentials;
  referenceForm(reference: PlannedReference, way: ReferenceWay | undefined): ReferenceForm;
  /** What the ticket holds besides upstream and model. */
  ticket?(order: PlannedOrder): JsonObject;
  /** How many of the account's running orders it counts as; absent: one. */
  slots?(order: PlannedOrder): number;

  /** Where an order holds an address to call: in a field of its body, or of its query; absent: the vendor makes no callbacks. */
  readonly callback?: { readonly field: string } | { readonly query: string };
  /** What is answered to a callback; absent: nothing in it is looked at. */
  readCallback?(request: CallbackRequest, key: string): 'forged' | { readonly reply: JsonObject };

  /** @throws NotMakeable for what the family allows and the vendor lacks. */
  writeStart(order: PlannedOrder, ticket: UpstreamCallRef, file: FileAddress): VendorRequest;
  /** @throws MediaFailure for a refusal inside a reply of status 200. */
  readStart(body: JsonObject, order: MediaOrder): Started | undefined;
  /** What the vendor calls the work, different for all orders of an account. Present with `writeCheck`. */
  nameOf?(operation: Operation): string;
  /** Absent, with `readCheck`, for protocols that answer the files at once. */
  writeCheck?(operation: Operation): VendorRequest;
  readCheck?(body: JsonObject, operation: Operation): ReadState | undefined;
  /** Of every reply whose status is not 2xx, for whatever verb. */
  readFailure(reply: VendorReply, verb: Verb): MediaFailure;

  /** Whether a 5xx to a start proves that nothing was taken. Absent: none does. */
  isCertainlyNotTaken?(reply: VendorReply): boolean;

  /** The vendor takes the cancellation of finished work as a request to delete it, with its files: so it is polled first. */
  readonly cancelForgets?: true;
  /** Undefined: this work cannot be stopped. */
  writeCancel?(operation: Operation): VendorRequest | undefined;
  /** Of replies of every status. */
  readCancel?(reply: VendorReply): 'cancelled' | 'too_late' | undefined;
  writeFind?(ticket: UpstreamCallRef): VendorRequest;
  readFind?(body: JsonObject, ticket: UpstreamCallRef): Started | null | undefined;
  /** Whether a refusal of a find says that there is no such work. */
  isNotThere?(reply: VendorReply): boolean;

  /** Another form of an order, for accounts that refuse the usual one. Absent: there is one form. */
  readonly otherwise?: {
    /** Whether a refused start says that this account needs it. */
    isNeeded(reply: VendorReply): boolean;
    write(request: VendorRequest): VendorRequest;
  };

  /** The name of the fields of a reply to a check, or to a start that answers the files, whose text is a finished file in base64, and how many were ordered. */
  readonly inlineFiles?: { readonly field: string; count(operation: Operation): number };
  /** Where a finished file is fetched with the credentials; undefined: without them. @param origin of the vendor's API. */
  fileAddress?(url: string, origin: string): string | undefined;

  /** A call that costs nothing and needs the credentials. */
  readonly verification: VendorRequest;
  /** Of replies of every status; undefined where `readFailure` knows. */
  readVerification?(reply: VendorReply): Verified | undefined;
  /** What an operator should know of an account whose key works. */
  readAccountNote?(reply: VendorReply): string | undefined;

  /** What the vendor says that the order cost. */
  readCost?(body: JsonObject): VendorCost | undefined;
}

/** Refuses what a vendor lacks, by the name of the public field. @throws NotMakeable */
export function refuseIf(asked: boolean, param: string, sentence: string): void {
  if (asked) throw new NotMakeable(param, sentence);
}

/** The file that an order has in a role; undefined when it has none. */
export function fileAs(order: PlannedOrder, role: MediaReference['role'], file: FileAddress): string | undefined {
  const reference = order.references.find((candidate) => candidate.role === role);
  return reference && file(reference.param);
}

/** The files of one medium that an order only refers to, in their order; undefined when there is none. */
export function referencesOf(
  order: PlannedOrder,
  medium: MediaReference['medium'],
  file: FileAddress,
): string[] | undefined {
  const found = order.references.filter((reference) => reference.medium === medium && reference.role === 'reference');
  return found.length > 0 ? found.map(({ param }) => file(param)) : undefined;
}

const LONE_LAST_FRAME = {
  image_with_roles: 'image_with_roles needs a first_frame beside the last_frame here.',
  last_frame_image: 'last_frame_image needs first_frame_image here.',
} as const;

/** The frames that an order begins and ends with. @param param the field of the last one. @throws NotMakeable for a last one alone. */
export function framesOf(order: PlannedOrder, file: FileAddress, param: keyof typeof LONE_LAST_FRAME) {
  const [first, last] = [fileAs(order, 'first_frame', file), fileAs(order, 'last_frame', file)];
  refuseIf(last !== undefined && first === undefined, param, LONE_LAST_FRAME[param]);
  return { first, last };
}

/** The seed that a caller chose: absent and -1 leave it to the vendor. */
export const chosenSeed = (seed: number | undefined): number | undefined =>
  seed === undefined || seed < 0 ? undefined : seed;

/** The traits of most protocols: no idempotency key, and no list of orders that has a field of ours. */
export const taskTraits = (
  own: Partial<UpstreamTraits> & Pick<UpstreamTraits, 'firstCheckMs' | 'checkEveryMs'>,
): UpstreamTraits => ({
  style: 'task',
  repeatStart: 'unknown',
  startTimeoutMs: 60_000,
  findableAfterMs: 0,
  checkTimeoutMs: 10_000,
  ...own,
});

/** The same of one that answers the files at once, so that nothing is asked afterwards. */
export const callTraits = (startTimeoutMs: number): UpstreamTraits =>
  taskTraits({ style: 'call', startTimeoutMs, firstCheckMs: 0, checkEveryMs: 0 });

/** As the operator wants it, else as the caller sent it. */
export const asSent: MediaCodec['referenceForm'] = (_reference, way) => way ?? 'sent';

/** Reads a cancellation whose status says it all. @param tooLate the statuses of work that cannot be stopped any more. */
export const cancelledBy =
  (...tooLate: readonly number[]): NonNullable<MediaCodec['readCancel']> =>
  ({ status }) => {
    if (isDone(status)) return 'cancelled';
    return tooLate.includes(status) ? 'too_late' : undefined;
  };

/** The value of a field; undefined where there is none, or nothing that could have one. */
export const fieldIn = (value: JsonValue | undefined, name: string): JsonValue | undefined =>
  isJsonObject(value) ? value[name] : undefined;

/** The files of a reply, and what is missing among them: at each place there is one, or a reason why not. */
export function deliveredAt<Item>(
  items: readonly Item[],
  fileAt: (item: Item, ordinal: number) => UpstreamOutput | MediaReason,
) {
  const outputs: UpstreamOutput[] = [];
  const missing: UndeliveredOutput[] = [];
  for (const [ordinal, item] of items.entries()) {
    const file = fileAt(item, ordinal);
    if (typeof file === 'string') missing.push({ ordinal, ...MEDIA_REASONS[file] });
    else outputs.push(file);
  }
  return { outputs, ...(missing.length > 0 && { missing }) };
}

/** The same of files that came in a row, of which the last are missing. */
export const deliveredInRow = (outputs: readonly UpstreamOutput[], ordered: number, reason: MediaReason) =>
  deliveredAt(
    Array.from({ length: Math.max(ordered, outputs.length) }, (_, ordinal) => outputs[ordinal]),
    (file) => file ?? reason,
  );
