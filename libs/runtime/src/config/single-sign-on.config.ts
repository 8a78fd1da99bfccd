import { IsNotEmpty, IsOptional, IsString, MaxLength, ValidateBy } from 'class-validator';
import { Variable } from '#platform';

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/;

/** HTTPS, or plain HTTP on this machine, without what an issuer's name may not have. */
function isIssuer(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, hostname, search, hash, username } = new URL(value);
  const isReachedSafely = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
  return isReachedSafely && search === '' && hash === '' && username === '';
}

const IsIssuer = (): PropertyDecorator =>
  ValidateBy({
    name: 'isIssuer',
    validator: {
      validate: isIssuer,
      defaultMessage: () => '$property must be a full https address without a query, or http on this machine',
    },
  });

export class SingleSignOnConfig {
  @Variable({
    description:
      'Issuer of an OpenID Connect provider whose users may sign in to the console once they have accepted an invitation with it. When unset, the console has no button for it. See docs/console.md.',
    example: 'https://login.example.com/realms/studio',
  })
  @IsOptional()
  @IsIssuer()
  OIDC_ISSUER?: string;

  @Variable({ description: 'Client id of the gateway at OIDC_ISSUER.', example: 'generation-gateway' })
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  OIDC_CLIENT_ID?: string;

  @Variable({ description: 'Client secret of the gateway at OIDC_ISSUER.', secret: true })
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  OIDC_CLIENT_SECRET?: string;

  @Variable({ description: 'Name of OIDC_ISSUER on the sign-in button of the console.' })
  @IsString()
  @IsNotEmpty()
  @MaxLength(60)
  OIDC_NAME = 'single sign-on';
}

/** What is missing of a provider that is named; undefined when all is there, or nothing. */
export function missingOfSingleSignOn({
  OIDC_ISSUER,
  OIDC_CLIENT_ID,
  OIDC_CLIENT_SECRET,
}: SingleSignOnConfig): string | undefined {
  const given = Object.entries({ OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET });
  const missing = given.find(([, value]) => value === undefined)?.[0];
  if (missing === undefined || given.every(([, value]) => value === undefined)) return undefined;
  return `${missing} must be set when ${given.find(([, value]) => value !== undefined)?.[0]} is (it is not set)`;
}
