import { Injectable } from '@nestjs/common';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { GatewayError, type JsonObject } from '#contracts';
import { Database, logger, type Prisma, timeOrderedId } from '#platform';
import { type ChallengeOwner, Challenges } from './challenges.js';

const log = logger('console');

/** The relying party of passkeys: its domain, and the origin of the pages. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/** A challenge as a browser answers it. `options`: of WebAuthn, as JSON. */
interface AskedOfBrowser {
  readonly challenge_id: string;
  readonly options: JsonObject;
}

/** What a browser says. `response`: of WebAuthn, as JSON. */
export interface PasskeyAnswer {
  readonly challenge_id: string;
  readonly response: JsonObject;
}

/** Loaded with the first passkey: its certificates are a fifth of all modules, and most processes never see a passkey. */
const webAuthn = () => import('@simplewebauthn/server');
const webAuthnHelpers = () => import('@simplewebauthn/server/helpers');

const NAME_OF_PARTY = 'Generation gateway';
const PER_PERSON_MAX = 20;
const NAME_CHARACTERS_MAX = 100;
/** How a device may be reached, by WebAuthn; what else a browser says is nothing to keep. */
const TRANSPORTS = ['usb', 'nfc', 'ble', 'smart-card', 'hybrid', 'cable', 'internal'] as const;
/** Passkeys are the only thing that is asked for, so the device must know its owner. */
const VERIFIED = 'required' as const;
const SHOWN = { id: true, name: true, createdAt: true, lastUsedAt: true } as const;

type ListedPasskey = Prisma.PasskeyGetPayload<{ select: typeof SHOWN }>;

/** Passkeys of people (WebAuthn): the device proves its owner, and the gateway keeps public keys alone. */
@Injectable()
export class PasskeysService {
  constructor(
    private readonly database: Database,
    private readonly challenges: Challenges,
  ) {}

  /** In the order in which they were added. */
  async list(userId: string): Promise<ListedPasskey[]> {
    const { passkey } = await this.database.models();
    return passkey.findMany({ where: { userId }, orderBy: { createdAt: 'asc' }, select: SHOWN });
  }

  async countOf(userId: string): Promise<number> {
    return (await this.database.models()).passkey.count({ where: { userId } });
  }

  /** What a browser makes a passkey from. @throws GatewayError `conflict`: the person has 20 already. */
  async askForNew(
    party: RelyingParty,
    user: { id: string; name: string; email: string | null },
  ): Promise<AskedOfBrowser> {
    const { passkey } = await this.database.models();
    const known = await passkey.findMany({
      where: { userId: user.id },
      select: { credentialId: true, transports: true },
    });
    if (known.length >= PER_PERSON_MAX) throw tooMany();
    const { bytes, id } = this.challenges.issue({ purpose: 'new-passkey', userId: user.id });
    const { generateRegistrationOptions } = await webAuthn();
    const options = await generateRegistrationOptions({
      rpName: NAME_OF_PARTY,
      rpID: party.id,
      userName: user.email ?? user.name,
      userDisplayName: user.name,
      userID: new Uint8Array(Buffer.from(user.id)),
      challenge: bytes,
      attestationType: 'none',
      excludeCredentials: known.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
      authenticatorSelection: { residentKey: 'required', userVerification: VERIFIED },
    });
    return { challenge_id: id, options: options as unknown as JsonObject };
  }

  /**
   * Gives the person the passkey that their browser made.
   *
   * @throws GatewayError `invalid_parameter`: it does not fit the challenge; `conflict`: the device has one already, or the person has 20.
   */
  async add(
    party: RelyingParty,
    userId: string,
    answer: PasskeyAnswer & { readonly name: string },
  ): Promise<ListedPasskey> {
    const name = answer.name.trim();
    if (name === '' || name.length > NAME_CHARACTERS_MAX) {
      throw refused('name', `name must have 1 to ${NAME_CHARACTERS_MAX} characters.`);
    }
    const made = await this.verifiedNew(party, { purpose: 'new-passkey', userId }, answer);
    if (!made)
      throw refused('response', 'The passkey does not answer this request, or 5 minutes have passed: start again.');
    const data = { id: timeOrderedId('pkey'), userId, ...made, name };
    const models = await this.database.models();
    return models.$transaction(async (transaction) => {
      // Two that are added at once take turns here, or both would count without the other.
      await transaction.$queryRaw`select 1 from console_user where id = ${userId} for update`;
      if (await transaction.passkey.findUnique({ where: { credentialId: made.credentialId } })) {
        throw new GatewayError('conflict', 'This passkey is already registered.', { param: 'response' });
      }
      if ((await transaction.passkey.count({ where: { userId } })) >= PER_PERSON_MAX) throw tooMany();
      return transaction.passkey.create({ data, select: SHOWN });
    });
  }

  /** @throws GatewayError `not_found`. */
  async remove(userId: string, id: string): Promise<void> {
    const { passkey } = await this.database.models();
    const { count } = await passkey.deleteMany({ where: { id, userId } });
    if (count === 0) throw new GatewayError('not_found', 'You have no such passkey.', { param: 'passkey_id' });
  }

  /** What a browser signs: any passkey of the party to sign in, one of the person's for a proof. */
  async ask(party: RelyingParty, owner: ChallengeOwner): Promise<AskedOfBrowser> {
    const { bytes, id } = this.challenges.issue(owner);
    const { generateAuthenticationOptions } = await webAuthn();
    const options = await generateAuthenticationOptions({
      rpID: party.id,
      challenge: bytes,
      userVerification: VERIFIED,
      ...(owner.userId !== null && { allowCredentials: await this.credentialsOf(owner.userId) }),
    });
    return { challenge_id: id, options: options as unknown as JsonObject };
  }

  /** Whose passkey answered the challenge, once; null when the answer is wrong. */
  async userOf(
    party: RelyingParty,
    owner: ChallengeOwner,
    { challenge_id: challengeId, response }: PasskeyAnswer,
  ): Promise<string | null> {
    const expectedChallenge = this.challenges.open(challengeId, owner);
    const { id: credentialId } = response;
    if (typeof credentialId !== 'string') return null;
    const signed = response as unknown as AuthenticationResponseJSON;
    const { passkey } = await this.database.models();
    const known = await passkey.findUnique({
      where: { credentialId },
      include: { user: { select: { disabledAt: true } } },
    });
    if (!known || known.user.disabledAt || expectedChallenge === null) return null;
    if (owner.userId !== null && owner.userId !== known.userId) return null;
    const { verifyAuthenticationResponse } = await webAuthn();
    const verified = await unlessWrong(() =>
      verifyAuthenticationResponse({
        response: signed,
        expectedChallenge,
        expectedOrigin: party.origin,
        expectedRPID: party.id,
        requireUserVerification: true,
        credential: { id: known.credentialId, publicKey: known.publicKey, counter: Number(known.counter) },
      }),
    );
    if (!verified?.verified || !(await this.challenges.use(expectedChallenge))) return null;
    const counter = verified.authenticationInfo.newCounter;
    await passkey.update({ where: { id: known.id }, data: { counter, lastUsedAt: new Date() } });
    return known.userId;
  }

  private async credentialsOf(userId: string) {
    const { passkey } = await this.database.models();
    const rows = await passkey.findMany({ where: { userId }, select: { credentialId: true, transports: true } });
    return rows.map(({ credentialId, transports }) => ({ id: credentialId, transports }));
  }

  private async verifiedNew(
    party: RelyingParty,
    owner: ChallengeOwner,
    { challenge_id: challengeId, response }: PasskeyAnswer,
  ) {
    const expectedChallenge = this.challenges.open(challengeId, owner);
    if (expectedChallenge === null) return null;
    const said = response as unknown as RegistrationResponseJSON;
    const { verifyRegistrationResponse } = await webAuthn();
    const verified = await unlessWrong(async () => {
      await expectNoCertificates(said);
      return verifyRegistrationResponse({
        response: said,
        expectedChallenge,
        expectedOrigin: party.origin,
        expectedRPID: party.id,
        requireUserVerification: true,
      });
    });
    if (!verified?.verified || !(await this.challenges.use(expectedChallenge))) return null;
    const { id: credentialId, publicKey, counter } = verified.registrationInfo.credential;
    const named: unknown = said.response.transports;
    const transports = TRANSPORTS.filter((each) => Array.isArray(named) && named.includes(each));
    return { credentialId, publicKey: new Uint8Array(publicKey), counter, transports };
  }
}

/** The maker's certificates were not requested; checking them would call addresses named in them. @throws Error */
async function expectNoCertificates({ response }: RegistrationResponseJSON): Promise<void> {
  const { decodeAttestationObject, isoBase64URL } = await webAuthnHelpers();
  const made = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
  const isPlain = made.get('fmt') === 'none' || (made.get('fmt') === 'packed' && !made.get('attStmt').get('x5c'));
  if (!isPlain) throw new Error(`the passkey comes with certificates: ${made.get('fmt')}`);
}

/** What a check answers; null when it finds something wrong, which the log says. */
async function unlessWrong<Found>(check: () => Promise<Found>): Promise<Found | null> {
  try {
    return await check();
  } catch (error) {
    log.info('console.passkey_refused', { error });
    return null;
  }
}

const tooMany = (): GatewayError => new GatewayError('conflict', `A person has ${PER_PERSON_MAX} passkeys at most.`);

const refused = (param: string, message: string): GatewayError =>
  new GatewayError('invalid_parameter', message, { param });
