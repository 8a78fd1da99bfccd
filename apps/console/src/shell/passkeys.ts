import { call } from '../api/call';
import type { Session } from '../api/queries';

/** Options as JSON, with the bytes in base64url; browsers turn them into what their interface takes. */
type Json = Parameters<typeof PublicKeyCredential.parseRequestOptionsFromJSON>[0];
type CreationJson = Parameters<typeof PublicKeyCredential.parseCreationOptionsFromJSON>[0];

/** What the authenticator says, as JSON. */
type WebAuthnAnswer = Parameters<typeof call<'POST /sign-in/passkey'>>[1]['body']['response'];

const toJson = (credential: Credential | null): WebAuthnAnswer => {
  if (!(credential instanceof PublicKeyCredential)) throw new Error('the browser gave no passkey');
  return credential.toJSON() as unknown as WebAuthnAnswer;
};

const ask = async (options: unknown): Promise<WebAuthnAnswer> =>
  toJson(
    await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options as Json) }),
  );

export async function signInByPasskey(): Promise<Session> {
  const { challenge_id, options } = await call('POST /sign-in/passkey/options', { body: {} });
  return call('POST /sign-in/passkey', { body: { challenge_id, response: await ask(options) } });
}

export async function provePasskey(): Promise<Session> {
  const { challenge_id, options } = await call('POST /session/proof/passkey/options', { body: {} });
  return call('POST /session/proof/passkey', { body: { challenge_id, response: await ask(options) } });
}

/** Makes a passkey on this device and gives it to the person. */
export async function addPasskey(name: string): Promise<void> {
  const { challenge_id, options } = await call('POST /passkeys/options', { body: {} });
  const created = await navigator.credentials.create({
    publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options as unknown as CreationJson),
  });
  await call('POST /passkeys', { body: { challenge_id, name, response: toJson(created) } });
}

export const hasPasskeys = (): boolean => typeof PublicKeyCredential !== 'undefined';
