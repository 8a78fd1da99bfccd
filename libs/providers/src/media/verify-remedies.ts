import type { Verified } from '#contracts';

/** What a free call that needs the key may find wrong. */
export type VerifyProblem = Exclude<Verified, { readonly ok: true }>['problem'];

/** What operators check first. */
export const VERIFY_REMEDIES = {
  wrong_key: 'The vendor does not take the key. Keys belong to one region or site: is base_url that of the key?',
  no_balance: 'The key is right, and the vendor account has nothing left to spend.',
  not_opened:
    'The vendor knows the key and does not let it in: is the service opened for its account, and its role given?',
  busy: 'The vendor is asked too much at present: try again later.',
  away: 'Nothing that can be read came from base_url: is it right, and can this machine reach it?',
  not_this_protocol:
    'What answers at base_url does not speak this protocol: is the address whole, and no longer than that?',
} as const satisfies Record<VerifyProblem, string>;
