import type { BalanceUnit } from '../money.js';
import type { AccountRole, ConsolePermission, ConsoleRole, OperatorConsoleRole } from './access.js';
import type { NoFields, Read, Time, Write } from './common.js';
import type { JsonObject } from '../json.js';

/** How a session was opened. */
export type SignInMethod = 'link' | 'password' | 'passkey' | 'oidc' | 'api_key' | 'operator_token' | 'invitation';

/** Which ways in there are here; a way that is not set up has no button. */
export interface SignInMethods {
  readonly password: boolean;
  readonly passkey: boolean;
  readonly api_key: boolean;
  readonly operator_token: boolean;
  /** The name of the identity provider; null when there is none. Its button asks `POST /sign-in/oidc` where to go. */
  readonly oidc: string | null;
}

export interface ConsoleMembership {
  readonly account_id: string;
  readonly account_name: string;
  readonly role: AccountRole;
}

/** The signed-in user, and their permissions. */
export interface ConsoleSession {
  readonly id: string;
  readonly method: SignInMethod;
  /** Null for holders of a key and of an operator token. */
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly email: string | null;
    readonly has_password: boolean;
    readonly passkeys: number;
  } | null;
  /** The account whose pages are shown; null for an operator without one. */
  readonly account: { readonly id: string; readonly name: string } | null;
  readonly roles: readonly ConsoleRole[];
  /** What the menu shows and the routes allow. */
  readonly permissions: readonly ConsolePermission[];
  readonly memberships: readonly ConsoleMembership[];
  readonly currency: BalanceUnit;
  /** Until when changes that need proof are taken without another; null: ask first. */
  readonly proved_until: Time | null;
  /** How proof can be given; empty: sign in again. */
  readonly proofs: readonly ('password' | 'passkey' | 'operator_token')[];
  readonly started_at: Time;
  /** Ends then unless something is done before. */
  readonly idle_ends_at: Time;
  readonly ends_at: Time;
  /** Whether models are served by the sandbox, whose results are samples. */
  readonly sandbox: boolean;
}

/** An open session of the same person. */
export interface ConsoleSessionRow {
  readonly id: string;
  readonly method: SignInMethod;
  readonly is_current: boolean;
  readonly started_at: Time;
  readonly seen_at: Time;
  readonly address: string | null;
  readonly agent: string | null;
}

export interface ConsolePasskey {
  readonly id: string;
  readonly name: string;
  readonly created_at: Time;
  readonly last_used_at: Time | null;
}

export interface InvitationPreview {
  readonly account_name: string | null;
  readonly role: AccountRole | OperatorConsoleRole;
  readonly email: string | null;
  readonly expires_at: Time;
}

/** Options and answers of WebAuthn, as `@simplewebauthn` has them. */
export type WebAuthnJson = JsonObject;

/** Signing in, and what belongs to the session and the person. Every sign-in answers the session. */
export interface SessionApi {
  'GET /sign-in': Read<SignInMethods>;
  /** `code`: the fragment of the link. Works once. */
  'POST /sign-in/link': Write<{ code: string }, ConsoleSession>;
  'POST /sign-in/password': Write<{ email: string; password: string }, ConsoleSession>;
  'POST /sign-in/key': Write<{ key: string }, ConsoleSession>;
  'POST /sign-in/operator': Write<{ token: string }, ConsoleSession>;
  'POST /sign-in/passkey/options': Write<NoFields, { challenge_id: string; options: WebAuthnJson }>;
  'POST /sign-in/passkey': Write<{ challenge_id: string; response: WebAuthnJson }, ConsoleSession>;
  /** Where the browser signs in at the identity provider. `to`: a page of the console; `invitation`: its code, to take it. */
  'POST /sign-in/oidc': Write<{ to?: string; invitation?: string }, { location: string }>;
  /** Where the identity provider sends the browser back to; leads on to a page, whatever the result. */
  'GET /sign-in/oidc/callback': Read<NoFields>;
  'POST /sign-in/invitation/preview': Write<{ code: string }, InvitationPreview>;
  /** `password` is required when there is no user yet; 12 characters or more. */
  'POST /sign-in/invitation': Write<{ code: string; name: string; email: string; password: string }, ConsoleSession>;
  'GET /session': Read<ConsoleSession>;
  'POST /session/sign-out': Write<NoFields, { signed_out: 1 }>;
  /** Ends every session of the person, this one too; answers how many. */
  'POST /session/sign-out-everywhere': Write<NoFields, { signed_out: number }>;
  /** Shows another account of the person: a new session. */
  'POST /session/account': Write<{ account_id: string }, ConsoleSession>;
  /** Proves the identity again: one of both. */
  'POST /session/proof': Write<{ password?: string; token?: string }, ConsoleSession>;
  'POST /session/proof/passkey/options': Write<NoFields, { challenge_id: string; options: WebAuthnJson }>;
  'POST /session/proof/passkey': Write<{ challenge_id: string; response: WebAuthnJson }, ConsoleSession>;
  'GET /sessions': Read<{ items: readonly ConsoleSessionRow[] }>;
  'POST /sessions/:session_id/end': Write<NoFields, { signed_out: 1 }>;
  'POST /profile': Write<{ name?: string; email?: string }, ConsoleSession>;
  /** Needs proof. Ends the other sessions of the person. */
  'POST /profile/password': Write<{ password: string }, ConsoleSession>;
  'GET /passkeys': Read<{ items: readonly ConsolePasskey[] }>;
  'POST /passkeys/options': Write<NoFields, { challenge_id: string; options: WebAuthnJson }>;
  'POST /passkeys': Write<{ challenge_id: string; name: string; response: WebAuthnJson }, ConsolePasskey>;
  'POST /passkeys/:passkey_id/remove': Write<NoFields, { id: string; removed: true }>;
}
