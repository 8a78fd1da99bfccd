import { ApiError } from '../../api/api-error';
import type { FormValues } from './form-values';

/** What was typed stays in this tab, so that a reload loses nothing; it is gone when the tab closes or its user leaves. */
const NAME = 'console.draft';

export function readDraft(): FormValues {
  try {
    return JSON.parse(sessionStorage.getItem(NAME) ?? '{}') as FormValues;
  } catch {
    return {};
  }
}

export function writeDraft(values: FormValues): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(values));
  } catch {
    // A pasted file may be larger than what a tab keeps; then only the reload loses it.
  }
}

/** What was typed into the form of texts. */
export interface TextDraft {
  readonly instructions: string;
  readonly input: string;
  readonly tools: string;
}

const TEXT_NAME = 'console.text-draft';

export function readTextDraft(): TextDraft {
  const empty = { instructions: '', input: '', tools: '' };
  try {
    return { ...empty, ...(JSON.parse(sessionStorage.getItem(TEXT_NAME) ?? '{}') as Partial<TextDraft>) };
  } catch {
    return empty;
  }
}

export function writeTextDraft(draft: TextDraft): void {
  try {
    sessionStorage.setItem(TEXT_NAME, JSON.stringify(draft));
  } catch {
    // Only the reload loses it.
  }
}

/** Whether the server answered what became of a run. While the first one is at work, or none knows, a click repeats it. */
export const endsRun = (failure: unknown): boolean =>
  failure instanceof ApiError &&
  failure.status !== null &&
  failure.status < 500 &&
  failure.code !== 'idempotency_in_flight';

const RUN = 'console.run';
/** Beside what the tab keeps, which has no room for requests with large files. */
let latestRun: { readonly key: string; readonly body: string } | undefined;

/** The idempotency key of this unanswered request: another click or a reload repeats the same run. */
export function runKeyFor(body: string): string {
  const pending = latestRun ?? readRun();
  if (pending?.body === body) return pending.key;
  const key = crypto.randomUUID();
  latestRun = { key, body };
  try {
    sessionStorage.setItem(RUN, JSON.stringify(latestRun));
  } catch {
    sessionStorage.removeItem(RUN);
  }
  return key;
}

/** The run was answered: the next click is another one. */
export function forgetRun(): void {
  latestRun = undefined;
  sessionStorage.removeItem(RUN);
}

function readRun(): { readonly key: string; readonly body: string } | null {
  try {
    return JSON.parse(sessionStorage.getItem(RUN) ?? 'null') as { key: string; body: string } | null;
  } catch {
    return null;
  }
}
