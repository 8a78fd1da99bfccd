import { randomBytes } from 'node:crypto';
import type { SecretSealer } from '#platform';

/** How long a replaced secret keeps signing beside its successor, in seconds. */
export const SECRET_OVERLAP_SECONDS = 24 * 60 * 60;

/** A fresh signing secret in the notation of Standard Webhooks: `whsec_` and 256 random bits in base64. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** The columns that hold a secret and, during the overlap, the one before it. */
export interface SealedSecrets {
  readonly secret_sealed: Uint8Array;
  readonly previous_secret_sealed: Uint8Array | null;
  readonly previous_secret_until: Date | null;
}

/** Every secret that signs now, the newest first. `owner` is what they were sealed for. */
export function currentSecrets(sealed: SealedSecrets, owner: string, sealer: SecretSealer): string[] {
  const secrets = [sealer.open(sealed.secret_sealed, owner)];
  const overlaps = sealed.previous_secret_until !== null && sealed.previous_secret_until.getTime() > Date.now();
  if (overlaps && sealed.previous_secret_sealed) secrets.push(sealer.open(sealed.previous_secret_sealed, owner));
  return secrets;
}
