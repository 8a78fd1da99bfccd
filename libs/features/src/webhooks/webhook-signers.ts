import type { Database, SecretSealer } from '#platform';
import type { SigningSecretService } from './signing-secret.service.js';
import { currentSecrets, type SealedSecrets } from './webhook-secret.js';

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
