import { alternatives, type MeasuredReference, type MediaReference, type TotalSecondsLimit } from '#contracts';
import { FetchFailed, FetchRefused, mayPass, RemoteStatus, type SafeFetcher, withinTime } from '#platform';
import { BufferSource, type ByteSource, type FileMemory } from '../inspect/byte-source.js';
import { decodeDataUri, isDataUri } from '../inspect/data-uri.js';
import { inspectMedia } from '../inspect/inspect-media.js';
import type { MediaHeader } from '../inspect/media-header.js';
import { type BrokenMediaRule, InvalidMedia, MediaUnreadable } from '../inspect/media-unreadable.js';
import { openRemoteSource } from '../inspect/remote-source.js';
import { openOwnFile, type OwnFiles } from '../store/stored-source.js';
import { brokenRule, brokenTotalRule, megabytes, nounOf } from './media-rules.js';

/** A limit that a readable file breaks; the message is the finished sentence. */
class BrokenRule extends Error {}

/** The sentence for the caller about a file that cannot be fetched, read or used; nothing when the failure is not the file's. */
function ruleOf(error: unknown, reference: MediaReference): string | undefined {
  const { medium, limits } = reference;
  if (error instanceof BrokenRule) return error.message;
  if (error instanceof RemoteStatus)
    return `the file could not be fetched: its host answered ${error.status}${hint(error.status)}.`;
  if (error instanceof FetchFailed) return `the file could not be fetched: ${error.message}.`;
  if (error instanceof FetchRefused) return refusal(error, limits.maxBytes);
  if (!(error instanceof MediaUnreadable)) return undefined;
  if (error.code === 'too_large')
    return `the file ${error.message}; at most ${megabytes(limits.maxBytes)} are allowed.`;
  const expected = `it must be ${medium === 'video' ? 'a' : 'an'} ${nounOf(medium)} (${alternatives(limits.formats)})`;
  return error.code === 'unsupported' ? `the file ${error.message}; ${expected}.` : `the file ${error.message}.`;
}

function refusal(error: FetchRefused, maxBytes: number): string {
  if (error.code === 'too_large') return `the file is too large; at most ${megabytes(maxBytes)} are allowed.`;
  if (error.code === 'address_blocked')
    return 'the file is not at a public address; give a URL that anybody on the internet can reach.';
  return `the file cannot be fetched: ${error.message}.`;
}

function hint(status: number): string {
  if (status === 401 || status === 403) return '; the URL must be readable without signing in';
  return status === 404 || status === 410 ? '; nothing is there' : '';
}

interface MediaCheckDependencies {
  readonly fetcher: SafeFetcher;
  /** Where files of our own lie. Absent: those are fetched like all others. */
  readonly store?: OwnFiles | undefined;
  /** Longest time for one file, in milliseconds. */
  readonly timeoutMs: number;
  /** When the time for all files of a request is over, on the clock of `performance`. Absent: only each has a limit. */
  readonly deadline?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whose files they are; see `SafeGetOptions`. */
  readonly accountId?: string | undefined;
  /** What is kept of remote files meanwhile. Absent: only the read budget of each bounds it. */
  readonly memory?: FileMemory | undefined;
}

/** How many files of one request are read at once. */
const FILES_AT_ONCE = 4;

/** A host that failed to answer is asked once more: a passing fault of a network is not the user's mistake. */
const ATTEMPTS = 2;

/**
 * Measures one referenced file, inline or remote, and holds it against its limits.
 *
 * @throws InvalidMedia when the file cannot be had, cannot be read or breaks a limit.
 * @throws NoMemoryForFiles when others take the memory for it now.
 * @throws the reason of `signal` when that is aborted, and failures of our own unchanged.
 */
export async function checkReference(
  reference: MediaReference,
  dependencies: MediaCheckDependencies,
): Promise<MeasuredReference> {
  const checked = isDataUri(reference.source) ? checkInline(reference) : checkRemote(reference, dependencies);
  return checked.catch((error: unknown) => explain(error, reference));
}

/**
 * Measures files of a request, a few at a time, and holds each against its limits. Every broken rule is listed; so is every
 * file that was not reached in the time for all of them.
 *
 * @throws as {@link checkReference}.
 */
export async function measureReferences(
  references: readonly MediaReference[],
  dependencies: MediaCheckDependencies,
): Promise<MeasuredReference[]> {
  const check = (reference: MediaReference): Promise<MeasuredReference> => checkReference(reference, dependencies);
  return measuredOrRefused(await inTurns(references, check, FILES_AT_ONCE));
}

/**
 * Checks the files that stand in a request itself, and then the lengths of several together with those that were measured
 * elsewhere. Every broken rule is listed.
 *
 * @throws as {@link checkReference}.
 */
export async function checkReferences(
  references: readonly MediaReference[],
  totals: readonly TotalSecondsLimit[],
  elsewhere: readonly MeasuredReference[],
): Promise<MeasuredReference[]> {
  const known = new Map(elsewhere.map((measured) => [measured.param, measured]));
  const inline = await checkInlineReferences(references);
  for (const measured of inline) known.set(measured.param, measured);
  const measured = references.flatMap(({ param }) => known.get(param) ?? []);
  const [first, ...more] = totals.flatMap((limit): BrokenMediaRule[] => {
    const rule = brokenTotalRule(measured, limit);
    return rule === undefined ? [] : [{ param: limit.param, rule }];
  });
  if (first) throw new InvalidMedia([first, ...more]);
  return measured;
}

/**
 * Checks the data URIs among the references and leaves the remote ones alone. Needs no network, so it runs while the
 * caller waits for the answer to its submission.
 *
 * @throws InvalidMedia listing every broken rule.
 */
export async function checkInlineReferences(references: readonly MediaReference[]): Promise<MeasuredReference[]> {
  const inline = references.filter(({ source }) => isDataUri(source));
  const check = (reference: MediaReference): Promise<MeasuredReference> =>
    checkInline(reference).catch((error: unknown) => explain(error, reference));
  return measuredOrRefused(await inTurns(inline, check, 1));
}

/** Turns a failure of the file into the refusal that its owner reads. */
function explain(error: unknown, reference: MediaReference): never {
  const rule = ruleOf(error, reference);
  if (rule === undefined) throw error;
  throw new InvalidMedia([{ param: reference.param, rule }], { cause: error });
}

async function checkInline(reference: MediaReference): Promise<MeasuredReference> {
  const { format, bytes } = await decodeDataUri(reference.source, reference.limits);
  const measured = await measure(reference, new BufferSource(bytes));
  if (measured.format !== format)
    throw new BrokenRule(`the data URI is declared as ${format}, but its bytes are ${measured.format}.`);
  return measured;
}

async function checkRemote(
  reference: MediaReference,
  dependencies: MediaCheckDependencies,
): Promise<MeasuredReference> {
  const { deadline = Number.POSITIVE_INFINITY } = dependencies;
  let failure: unknown = new BrokenRule('the file could not be fetched in the time that all files of a request have.');
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const leftMs = Math.floor(deadline - performance.now());
    if (leftMs <= 0) break;
    try {
      return await measureRemote(reference, { ...dependencies, timeoutMs: Math.min(dependencies.timeoutMs, leftMs) });
    } catch (error) {
      failure = error;
      if (!mayHelp(error)) break;
    }
  }
  throw failure;
}

const mayHelp = (error: unknown): boolean =>
  mayPass(error) || (error instanceof MediaUnreadable && error.code === 'changed');

async function measureRemote(
  reference: MediaReference,
  dependencies: MediaCheckDependencies,
): Promise<MeasuredReference> {
  const { maxBytes } = reference.limits;
  const { store, timeoutMs, signal: caller, memory, accountId = '' } = dependencies;
  const key = store?.keyOf(reference.source);
  if (!store || key === undefined) {
    const kept = memory?.of(accountId);
    return measureAndClose(reference, await openRemoteSource(reference.source, { ...dependencies, maxBytes, kept }));
  }
  return withinTime(timeoutMs, caller, async (signal) =>
    measureAndClose(reference, await openOwnFile(store, key, { maxBytes, signal })),
  );
}

async function measureAndClose(reference: MediaReference, source: ByteSource): Promise<MeasuredReference> {
  try {
    return await measure(reference, source);
  } finally {
    await source.close();
  }
}

async function measure(reference: MediaReference, source: ByteSource): Promise<MeasuredReference> {
  const header = await inspectMedia(source);
  const rule = brokenRule(header, reference.limits);
  if (rule !== undefined) throw new BrokenRule(rule);
  const { param, medium, role } = reference;
  return {
    param,
    medium,
    role,
    source: reference.source,
    format: header.format,
    bytes: source.size,
    ...sizeAndLength(header),
  };
}

const sizeAndLength = (header: MediaHeader): Pick<MeasuredReference, 'width' | 'height' | 'durationSeconds'> => ({
  ...(header.medium !== 'audio' && { width: header.width, height: header.height }),
  ...(header.medium !== 'image' && { durationSeconds: header.durationSeconds }),
});

type Outcome = { readonly measured: MeasuredReference } | { readonly error: unknown };

const toOutcome = (check: Promise<MeasuredReference>): Promise<Outcome> =>
  check.then(
    (measured) => ({ measured }),
    (error: unknown) => ({ error }),
  );

/** Runs the checks with a bound on how many are under way; outcomes keep the order of the references. */
async function inTurns(
  references: readonly MediaReference[],
  check: (reference: MediaReference) => Promise<MeasuredReference>,
  atOnce: number,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = references.entries();
  const work = async (): Promise<void> => {
    for (const [index, reference] of waiting) outcomes[index] = await toOutcome(check(reference));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return outcomes;
}

/** All measurements, or one refusal that lists every broken rule; a failure that is not a file's comes first. */
function measuredOrRefused(outcomes: readonly Outcome[]): MeasuredReference[] {
  const errors = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []));
  const foreign = errors.find((error) => !(error instanceof InvalidMedia));
  if (foreign !== undefined) throw foreign;
  const broken = errors.flatMap((error) => (error instanceof InvalidMedia ? error.broken : []));
  const [first, ...more] = broken;
  if (first) throw new InvalidMedia([first, ...more], { cause: errors[0] });
  return outcomes.flatMap((outcome) => ('measured' in outcome ? [outcome.measured] : []));
}

/**
 * Holds the bytes of a file, read whole, against what was measured of it when its order was checked. A host may answer twice
 * with two files, and only the first of them is known to keep within the limits.
 *
 * @throws MediaUnreadable when they are no such file, or one of another format, size or length.
 */
export async function measuredAgain(bytes: Buffer, measured: MeasuredReference): Promise<Buffer> {
  const header = await inspectMedia(new BufferSource(bytes));
  const { width, height, durationSeconds } = {
    width: undefined,
    height: undefined,
    durationSeconds: undefined,
    ...header,
  };
  const isSame =
    header.format === measured.format &&
    bytes.length <= measured.bytes &&
    width === measured.width &&
    height === measured.height &&
    durationSeconds === measured.durationSeconds;
  if (!isSame) throw new MediaUnreadable('changed', 'is not the file that was checked: it changed since');
  return bytes;
}
