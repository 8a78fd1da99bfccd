import type { Billing, JsonObject, Micros, Medium, SubmissionPath } from '#contracts';

/** A task about to be written: the checked request, the payer, and the hold. */
export interface NewTask {
  readonly id: string;
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly requestId: string;
  /** Of a request that may be repeated: the task is written only while `requestId` is the attempt that does its work. */
  readonly idempotencyKey?: string | undefined;
  readonly medium: Medium;
  readonly path: SubmissionPath;
  readonly family: string;
  readonly model: string;
  readonly mode: string;
  readonly parameters: JsonObject;
  /** What `parameters` holds by number only; see `withoutLongTexts`. */
  readonly longTexts?: readonly string[];
  readonly notices: readonly string[];
  readonly billing: Billing;
  readonly priceId: string;
  readonly holdMicros: Micros;
  readonly priority: number;
  /** The longest the task may take, in seconds from now. */
  readonly deadlineSeconds: number;
  readonly webhookUrl: string | null;
}
