import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { JsonTexts } from '#platform';

/** Begins a proof that its vendor wants back at the very call that it came with. */
const AT_CALL = 'at_call:';

/** Begins a proof that its vendor told only when the call had gone out: it follows that call. */
const BEHIND_CALL = 'behind_call:';

/** A proof that came with a call, as the events have it. */
export const proofOfCall = (proof: string, isBehind: boolean): string => (isBehind ? BEHIND_CALL : AT_CALL) + proof;

/** Whether the proof follows the call that it belongs to. */
export const isBehindCall = (proof: string): boolean => proof.startsWith(BEHIND_CALL);

/** The proof of a call as its vendor gave it; undefined for what stands in place of another proof. */
export const callProofIn = (proof: string): string | undefined =>
  [AT_CALL, BEHIND_CALL].flatMap((mark) => (proof.startsWith(mark) ? [proof.slice(mark.length)] : []))[0];

/** Under which names a vendor writes such a proof, and wants it back; the second is that of the same vendor's cloud. */
const PROOF_HOLDERS = ['google', 'vertex'] as const;
const [USUAL_HOLDER, ...OTHER_HOLDERS] = PROOF_HOLDERS;

/** The proof in what a vendor writes beside a call, with the name that it stood under unless that is the usual one; undefined: none. */
export function proofBeside(extra: JsonValue | undefined): string | undefined {
  for (const name of PROOF_HOLDERS) {
    const holder = isJsonObject(extra) ? extra[name] : undefined;
    const proof = isJsonObject(holder) ? holder['thought_signature'] : undefined;
    if (typeof proof === 'string' && proof !== '') return name === USUAL_HOLDER ? proof : `${name}:${proof}`;
  }
  return undefined;
}

/**
 * What is written beside a call, so that its vendor finds the proof where it put it.
 *
 * @param extra what stood there; a proof in it gives way.
 */
export function besideCall(proof: string, extra: JsonObject = {}): JsonObject {
  const name = OTHER_HOLDERS.find((holder) => proof.startsWith(`${holder}:`));
  const [holder, own] = name === undefined ? [USUAL_HOLDER, proof] : [name, proof.slice(name.length + 1)];
  const others = Object.entries(extra).filter(([field]) => !PROOF_HOLDERS.some((each) => each === field));
  return { ...Object.fromEntries(others), [holder]: { thought_signature: own } };
}

/** Stands in place of the proof of reasoning that its vendor writes as a part of the content, and wants back there. */
export const IN_CONTENT = 'thinking';

/** Begins a proof that holds the vendor's own account of its reasoning, which it wants back whole. */
const DETAILS = 'details:';

/** The account that a vendor gives of its reasoning; the pieces of a stream become what a whole reply would hold. */
export class ReasoningDetails {
  private details: JsonObject[] = [];

  add(sent: readonly JsonObject[]): void {
    for (const detail of sent) {
      const last = this.details.at(-1);
      if (last && isContinued(last, detail)) this.details[this.details.length - 1] = continued(last, detail);
      else this.details.push(detail);
    }
  }

  /**
   * What came since it was taken last, as a proof; undefined where the texts alone say all of it.
   *
   * @param field in which its text stood as well.
   */
  take(field: string | undefined): string | undefined {
    const details = this.details;
    this.details = [];
    const isSealed = details.some(({ signature, data }) => Boolean(signature) || Boolean(data));
    return isSealed
      ? DETAILS + Buffer.from(JSON.stringify([field ?? null, ...details])).toString('base64url')
      : undefined;
  }
}

/** The fields whose pieces are put together; of all others the last counts. */
const GROWING = ['text', 'summary'] as const;

const isContinued = (last: JsonObject, next: JsonObject): boolean =>
  last['type'] === next['type'] && last['index'] === next['index'] && next['data'] === undefined;

function continued(last: JsonObject, next: JsonObject): JsonObject {
  const said = Object.entries(next).filter(([, value]) => value !== null);
  const grown = GROWING.flatMap((field) => {
    const [before, after] = [last[field], next[field]];
    return typeof before === 'string' && typeof after === 'string' ? [[field, before + after] as const] : [];
  });
  return { ...last, ...Object.fromEntries(said), ...Object.fromEntries(grown) };
}

/** What a proof says of the reasoning in front of it: the field that its text stood in, and the vendor's account of it. */
interface Account {
  readonly field?: string;
  readonly details: readonly JsonObject[];
}

/**
 * Reads a proof without its mark. One that no vendor gave says nothing: a caller may send anything.
 *
 * @param texts of the whole request.
 */
export function accountIn(proof: string, texts: JsonTexts): Account {
  if (!proof.startsWith(DETAILS)) return { field: proof, details: [] };
  const value = unpacked(proof.slice(DETAILS.length), texts);
  const [field, ...sent] = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  const details = sent.filter((detail) => isJsonObject(detail));
  return typeof field === 'string' ? { field, details } : { details };
}

/** Where the reasoning belongs of which this is the proof; undefined where only the proof says. The place alone is no proof. */
export function placeOf(proof: string): string | undefined {
  if (callProofIn(proof) !== undefined) return undefined;
  return proof.startsWith(DETAILS) ? accountIn(proof, new JsonTexts()).field : proof;
}

function unpacked(packed: string, texts: JsonTexts): JsonValue | undefined {
  try {
    return texts.parsePacked(packed) as JsonValue;
  } catch {
    return undefined;
  }
}
