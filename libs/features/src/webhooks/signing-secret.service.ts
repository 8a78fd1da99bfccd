import { Injectable } from '@nestjs/common';
import { Database, SecretSealer } from '#platform';
import { currentSecrets, newWebhookSecret, SECRET_OVERLAP_SECONDS, type SealedSecrets } from './webhook-secret.js';

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
