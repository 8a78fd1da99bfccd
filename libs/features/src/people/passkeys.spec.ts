import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import { SecretSealer } from '#platform';
import { createTestDatabase, type TestDatabase } from '#testing';
import { Challenges } from './challenges.js';
import { PasskeysService } from './passkeys.service.js';

const PARTY = { id: 'gateway.example', origin: 'https://gateway.example' };
const PERSON = { id: 'user_1', name: 'Ada', email: null };

/** What a browser says of a new passkey of an authenticator that tells nothing of its maker. */
function made(challenge: string, transports: readonly string[]): Record<string, unknown> {
  const credentialId = randomBytes(16);
  const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  const coordinate = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64url'));
  const key = new Map<number, number | Uint8Array>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, coordinate(x)],
    [-3, coordinate(y)],
  ]);
  // Present, verified, with a credential.
  const flagsAndCounter = Buffer.from([0x45, 0, 0, 0, 0]);
  const length = Buffer.from([0, credentialId.length]);
  const authData = Buffer.concat([
    createHash('sha256').update(PARTY.id).digest(),
    flagsAndCounter,
    Buffer.alloc(16),
    length,
    credentialId,
    isoCBOR.encode(key),
  ]);
  const attestation = new Map<string, unknown>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', new Uint8Array(authData)],
  ]);
  const clientData = JSON.stringify({ type: 'webauthn.create', challenge, origin: PARTY.origin });
  const id = credentialId.toString('base64url');
  return {
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: Buffer.from(clientData).toString('base64url'),
      attestationObject: Buffer.from(isoCBOR.encode(attestation as never)).toString('base64url'),
      transports,
    },
  };
}

describe('A new passkey', () => {
  let test: TestDatabase;
  let passkeys: PasskeysService;
  beforeAll(async () => {
    test = await createTestDatabase();
    passkeys = new PasskeysService(
      test.database,
      new Challenges(test.database, new SecretSealer({ keyPepper: 'a-pepper-of-the-tests' })),
    );
    const { consoleUser } = await test.database.models();
    await consoleUser.create({ data: { id: PERSON.id, name: PERSON.name } });
  });
  afterAll(() => test.remove());

  const ask = () => passkeys.askForNew(PARTY, PERSON);
  const answer = (
    { challenge_id, options }: Awaited<ReturnType<typeof ask>>,
    transports: readonly string[] = ['usb'],
  ) =>
    passkeys.add(PARTY, PERSON.id, {
      challenge_id,
      name: 'Key',
      response: made(options['challenge'] as string, transports) as never,
    });

  it('keeps the known ways to its device, once each, and no other text', async () => {
    await answer(await ask(), ['usb', 'usb', 'x'.repeat(10_000), 'internal', ...Array<string>(1_000).fill('nfc')]);
    const { passkey } = await test.database.models();
    expect((await passkey.findFirst())?.transports).toEqual(['usb', 'nfc', 'internal']);
  });

  it('is one of 20 at most, also when many challenges were asked for before and are answered at once', async () => {
    const asked = await Promise.all(Array.from({ length: 25 }, ask));
    const outcomes = await Promise.allSettled(asked.map((each) => answer(each)));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as object] : []));
    expect(await passkeys.countOf(PERSON.id)).toBe(20);
    expect(refused).toHaveLength(6);
    expect(refused.every((reason) => 'code' in reason && reason.code === 'conflict')).toBe(true);
    await expect(ask()).rejects.toMatchObject({ code: 'conflict' });
  });
});
