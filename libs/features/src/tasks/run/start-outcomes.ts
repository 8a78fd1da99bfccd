import { type MediaFailure, ProviderError, type Started, type TaskFailureCode } from '#contracts';
import type { Candidate } from '../../media-upstreams/media-router.js';
import type { AllowanceTake } from '../start-intent.js';
import type { NotedCall } from '../../media-upstreams/vendor-call.js';
import type { KnownCosts } from '../task-transitions.js';
import { storableOperation, storableOutputs, storableText } from '../poll/vendor-answers.js';

/** What is known of a call to an upstream. */
interface OfferedCall {
  readonly noted: NotedCall;
  readonly candidate: Candidate;
}

/** The failure of a call that ended with an error which is no `MediaFailure`. */
export const BROKE_OFF = { code: 'upstream_unknown', reason: 'The call broke off.' } as const;

/** Code and reason as the caller reads them. Only a provider that is part of the gateway is quoted. */
export function publicFailureOf(failure: MediaFailure): { code: TaskFailureCode; reason: string } {
  const { cause } = failure;
  const { code, publicReason } = cause instanceof ProviderError ? cause : failure;
  return { code, reason: storableText(publicReason) };
}

/** @throws MediaFailure `ambiguous`: the vendor took the order under a name that cannot be kept. */
export function storableStarted(started: Started): void {
  if (started.kind === 'operation') storableOperation(started.operation);
  else storableOutputs(started.outputs);
}

/** What the order takes of the upstream's allowance, where it has one. */
export const takeOf = ({ routed: { upstream, limits }, plan }: Candidate): AllowanceTake | undefined =>
  limits.allowance && { upstream: upstream.id, allowance: limits.allowance, costMicros: plan.cost?.micros ?? 0n };

/** The cost that the vendor reported, and the one that its operator configured. */
export const costsOf = ({ noted, candidate }: OfferedCall): KnownCosts => ({
  reported: noted.facts.cost,
  configured: candidate.plan.cost,
});
