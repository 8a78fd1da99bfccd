import { formatMicros, type Micros } from '#contracts';
import { eventLogger } from '#platform';

/** What the log line about a request says besides what HTTP shows. */
export interface RequestFacts {
  taskId?: string;
  upstream?: string;
  /** Decimal text: what the request cost; for a submission, what it holds. */
  amount?: string;
  hold?: string;
}

const open = new Map<string, RequestFacts>();

const charged = eventLogger('text', 'request.charged');

/** From now on facts about the request are kept for its line. Always to be followed by `takeFacts`. */
export const openFacts = (requestId: string): void => void open.set(requestId, {});

/** What became known, for the line that is written now. */
export function takeFacts(requestId: string): RequestFacts {
  const facts = open.get(requestId);
  open.delete(requestId);
  return facts ?? {};
}

/** Keeps facts about a request that is still open; others come too late and are dropped. */
export function addLogFields(requestId: string, facts: RequestFacts): void {
  const kept = open.get(requestId);
  if (kept) Object.assign(kept, facts);
}

/** Keeps what a request cost. When its line has been written already, the charge gets one of its own. */
export function noteCharge(requestId: string, chargeMicros: Micros): void {
  const amount = formatMicros(chargeMicros);
  const kept = open.get(requestId);
  if (kept) kept.amount = amount;
  else charged({ requestId, amount });
}
