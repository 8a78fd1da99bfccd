import type { Verified } from '#contracts';

/** What a free call that needs the key may find wrong. */
export type VerifyProblem = Exclude<Verified, { readonly ok: true }>['problem'];

/** What operators check first. */
export const VERIFY_REMEDIES = {
  wrong_key: 'The vendor rejects the key. Keys belong to one region or site: does base_url match the key?',
  no_balance: 'The key is right, but the vendor account has no balance left.',
  not_opened:
    'The vendor knows the key but denies access: is the service enabled for the account, and does the key have the right role?',
  busy: 'The vendor is rate-limiting this account at the moment: try again later.',
  away: 'There was no readable response from base_url: is the address right, and can this machine reach it?',
  not_this_protocol:
    'The server at base_url does not speak this protocol: is the address complete, with nothing added?',
} as const satisfies Record<VerifyProblem, string>;
