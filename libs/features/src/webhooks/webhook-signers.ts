import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, SecretSealer } from '#platform';

/** How long a replaced secret keeps signing beside its successor, in seconds. */
export const SECRET_OVERLAP_SECONDS = 24 * 60 * 60;

/** A fresh signing secret in the notation of Standard Webhooks: `whsec_` and 256 random bits in base64. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** The columns that hold a secret and, during the overlap, the one before it. */
interface SealedSecrets {
  readonly secret_sealed: Uint8Array;
  readonly previous_secret_sealed: Uint8Array | null;
  readonly previous_secret_until: Date | null;
}

/** Every secret that signs now, the newest first. `owner` is what they were sealed for. */
function currentSecrets(sealed: SealedSecrets, owner: string, sealer: SecretSealer): string[] {
  const secrets = [sealer.open(sealed.secret_sealed, owner)];
  const overlaps = sealed.previous_secret_until !== null && sealed.previous_secret_until.getTime() > Date.now();
  if (overlaps && sealed.previous_secret_sealed) secrets.push(sealer.open(sealed.previous_secret_sealed, owner));
  return secrets;
}

const ADD = `
insert into webhook_signing_secret (account_id, secret_sealed) values ($1, $2) on conflict do nothing`;
const READ = `
select secret_sealed, previous_secret_sealed, previous_secret_until from webhook_signing_secret where account_id = $1`;
const ROTATE = `
update webhook_signing_secret set previous_secret_sealed = secret_sealed, secret_sealed = $2,
  previous_secret_until = now() + $3::integer * interval '1 second'
where account_id = $1`;

/** The secret that signs webhooks to addresses named in submissions; each account has one, made when first needed. */
@Injectable()
export class SigningSecretService {
  constructor(
    private readonly database: Database,
    private readonly sealer: SecretSealer,
  ) {}

  /** The account's secret, which its owner may see at any time. */
  async read(accountId: string): Promise<string> {
    const [secret = ''] = await this.secretsOf(accountId);
    return secret;
  }

  /** Makes a new secret. The old one keeps signing beside it for a day, so that receivers can change over. */
  async rotate(accountId: string): Promise<string> {
    await this.secretsOf(accountId);
    const secret = newWebhookSecret();
    const values = [accountId, this.sealer.seal(secret, accountId), SECRET_OVERLAP_SECONDS];
    await this.database.query({ text: ROTATE, values });
    return secret;
  }

  /** Every secret that signs now, the newest first. */
  async secretsOf(accountId: string): Promise<string[]> {
    const known = await this.find(accountId);
    if (known) return currentSecrets(known, accountId, this.sealer);
    const values = [accountId, this.sealer.seal(newWebhookSecret(), accountId)];
    await this.database.query({ text: ADD, values });
    const added = await this.find(accountId);
    if (!added) throw new Error(`account ${accountId} lost its signing secret`);
    return currentSecrets(added, accountId, this.sealer);
  }

  private async find(accountId: string): Promise<SealedSecrets | undefined> {
    const { rows } = await this.database.query<SealedSecrets>({ text: READ, values: [accountId] });
    return rows[0];
  }
}

const ENDPOINT_SECRETS = `
select secret_sealed, previous_secret_sealed, previous_secret_until from webhook_endpoint
where id = $1 and disabled_at is null`;
const DISABLE = `update webhook_endpoint set disabled_at = now() where id = $1 and disabled_at is null`;

/** Finds the secrets that sign a delivery: those of its endpoint, or those of the account for a submission's own address. */
export class WebhookSigners {
  constructor(
    private readonly database: Database,
    private readonly sealer: SecretSealer,
    private readonly accounts: SigningSecretService,
  ) {}

  /** The newest first; null when the endpoint is gone. */
  async secretsFor(accountId: string, endpointId: string | null): Promise<string[] | null> {
    if (endpointId === null) return this.accounts.secretsOf(accountId);
    const { rows } = await this.database.query<SealedSecrets>({ text: ENDPOINT_SECRETS, values: [endpointId] });
    const [sealed] = rows;
    return sealed ? currentSecrets(sealed, endpointId, this.sealer) : null;
  }

  /** The receiver responded that it is gone. */
  async disable(endpointId: string): Promise<void> {
    await this.database.query({ text: DISABLE, values: [endpointId] });
  }
}
