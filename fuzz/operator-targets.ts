import { CHAT, MESSAGES, RESPONSES, type Target, VIDEO } from './targets.js';

/** Ids that do not exist, so that removals take nothing that the other bodies need. */
const UNKNOWN = {
  key: 'key_1',
  user: 'user_1',
  upstream: 'unknown',
  other: 'x_1',
};

const LIMITS = {
  requests_per_minute: 600,
  tokens_per_minute: 100_000,
  max_running_tasks: 20,
  daily_limit: '10.5',
  monthly_limit: null,
};
const ACCOUNT = { name: 'Studio', unlimited: true, priority: 5, low_balance: '1.000001', disabled: false, ...LIMITS };
const KEY = {
  name: 'render farm',
  quota: '5',
  allowed_models: ['beta-2.5-preview'],
  allowed_addresses: ['10.0.0.0/8'],
  scopes: ['generate'],
  expires_at: '2099-01-01T00:00:00Z',
  ...LIMITS,
};
const FUNDING = { amount: '0.000001', reference: 'invoice-1', note: 'a trifle' };
const PRICE = {
  model: 'beta-2.5-preview',
  unit: 'second',
  variant: '480p',
  amount: '0.5',
  per_quantity: 1,
  effective_from: '2099-01-01T00:00:00Z',
};
const UPSTREAM = {
  id: 'fuzzed',
  kind: 'text',
  protocol: 'chat',
  base_url: 'https://vendor.example.com/v1',
  key: 'sk-unknown',
  models: { 'model-unknown': 'theirs' },
  timeouts: { connect_seconds: 5, idle_seconds: 60 },
  allow: { tools: ['web_search'], service_tiers: ['priority'] },
  embedding_models: {},
  translation: { lacking_tools: 'drop' },
  model_limits: { 'model-unknown': { max_output_tokens: 1_000 } },
  model_traits: { 'model-*': { sampling: 'none' } },
  costs: { unit: 'USD', 'model-unknown': { input_token: 0.000001 } },
  pass_headers: ['x-session-id'],
  weight: 1,
  enabled: false,
};
const MEDIA_UPSTREAM = {
  id: 'fuzzed-media',
  kind: 'media',
  protocol: 'kling',
  key: 'sk-unknown',
  models: 'all',
  except: [],
  only_accounts: [],
  settings: {},
  limits: { running: 3, starts_per_minute: 30 },
  model_traits: { 'delta-*': { mode: { one_of: ['pro'] } } },
  costs: { unit: 'USD' },
  enabled: false,
};
const RULE = { model: '*', factor: '0.9' };
const LIST = '{"model-unknown":{"input_cost_per_token":0.000001}}';
const PROMPT_LOG = { enabled: false, retention_days: 7, redactions: ['email', 'EMP-####'] };
const REASON = { reason: 'asked for by the customer' };
const REFUND = { amount: '0.000001', reference: 'refund-1', ...REASON };

const admin = (method: Target['method'], path: string, good: unknown): Target => ({
  method,
  path: `/admin/v1${path}`,
  good,
  as: 'operator',
});

/** Every route of the admin API that takes a body. */
const ADMIN_TARGETS: readonly Target[] = [
  admin('POST', '/accounts', ACCOUNT),
  admin('PATCH', '/accounts/{account}', ACCOUNT),
  admin('POST', '/accounts/{account}/top-ups', FUNDING),
  admin('POST', '/accounts/{account}/adjustments', { ...FUNDING, amount: '-0.000001', reference: 'correction-1' }),
  admin('POST', '/accounts/{account}/keys', KEY),
  admin('PATCH', '/keys/{key}', KEY),
  admin('POST', `/keys/${UNKNOWN.key}/rotate`, { overlap_seconds: 60 }),
  admin('POST', `/keys/${UNKNOWN.key}/revoke`, {}),
  admin('POST', '/prices', PRICE),
  admin('POST', '/prices/import?dry_run=true', { prices: [PRICE, { ...PRICE, variant: '1080p' }] }),
  admin('PUT', '/accounts/{account}/tag-limits', { limits: [{ tag: 'nightly', daily_limit: '5' }] }),
  admin('PUT', '/accounts/{account}/prompt-log', PROMPT_LOG),
  admin('POST', '/accounts/{account}/price-list', { list: '{list}' }),
  admin('POST', '/price-lists', { id: 'fuzzed', name: 'Fuzzed', rules: [RULE] }),
  admin('POST', '/price-lists/{list}/rules', { rules: [RULE] }),
  admin('POST', '/price-proposals', { source: 'litellm', file: LIST, factor: '1.1', rounding: 'cent' }),
  admin('POST', '/price-proposals/{proposal}/apply', { items: ['{item}'] }),
  admin('POST', '/price-proposals/{proposal}/undo', {}),
  admin('PUT', '/price-names', { source: 'litellm', id: 'model-unknown', model: null }),
  admin('POST', '/price-simulations', { prices: [PRICE] }),
  admin('POST', '/reconciliations', {}),
  admin('POST', '/tasks/{task}/cancel', REASON),
  admin('POST', '/tasks/{task}/redrive', REASON),
  admin('POST', '/tasks/{task}/refund', REFUND),
  admin('POST', '/upstreams', UPSTREAM),
  admin('PATCH', '/upstreams/fuzzed', UPSTREAM),
  admin('POST', `/upstreams/${UNKNOWN.upstream}/verify`, {}),
  admin('POST', `/webhooks/deliveries/${UNKNOWN.other}/redeliver`, {}),
];

const page = (as: Target['as'], path: string, good: unknown): Target => ({
  method: 'POST',
  path: `/console/api${path}`,
  good,
  ...(as && { as }),
});
const PASSKEY = { challenge_id: 'ch_1', response: { id: 'AQID', rawId: 'AQID', type: 'public-key', response: {} } };
const INVITATION = { role: 'viewer', email: 'a@example.com' };
const ENDPOINT = { url: 'https://hooks.example.com/a', event_types: ['task.completed'] };

/** Every route of the console that takes a body from a signed-in user. */
const CONSOLE_TARGETS: readonly Target[] = [
  page('owner', '/session/account', { account_id: UNKNOWN.other }),
  page('owner', '/session/proof/passkey/options', {}),
  page('owner', `/sessions/${UNKNOWN.other}/end`, {}),
  page('owner', '/profile', { name: 'Owner', email: 'owner@example.com' }),
  page('owner', '/profile/password', { password: 'a long pass phrase' }),
  page('owner', '/passkeys/options', {}),
  page('owner', '/passkeys', { ...PASSKEY, name: 'laptop' }),
  page('owner', `/passkeys/${UNKNOWN.other}/remove`, {}),
  page('owner', '/keys', KEY),
  page('owner', '/keys/{key}', KEY),
  page('owner', `/keys/${UNKNOWN.key}/rotate`, { overlap_seconds: 60 }),
  page('owner', `/keys/${UNKNOWN.key}/revoke`, {}),
  page('owner', '/quote', VIDEO),
  page('owner', '/runs', VIDEO),
  page('owner', '/text/responses', { ...RESPONSES, tools: RESPONSES.tools.slice(0, 1) }),
  page('owner', '/text/chat/completions', CHAT),
  page('owner', '/text/messages', MESSAGES),
  page('owner', '/billing/notice', { low_balance: '1.5' }),
  page('owner', '/billing/time-zone', { time_zone: 'Asia/Shanghai' }),
  page('owner', '/webhooks/endpoints', ENDPOINT),
  page('owner', `/webhooks/endpoints/${UNKNOWN.other}/remove`, {}),
  page('owner', `/webhooks/endpoints/${UNKNOWN.other}/rotate-secret`, {}),
  page('owner', `/webhooks/endpoints/${UNKNOWN.other}/test`, {}),
  page('owner', `/webhooks/deliveries/${UNKNOWN.other}/resend`, {}),
  page('owner', '/people/invitations', INVITATION),
  page('owner', `/people/invitations/${UNKNOWN.other}/withdraw`, {}),
  page('owner', `/people/${UNKNOWN.user}`, { role: 'viewer' }),
  page('owner', `/people/${UNKNOWN.user}/remove`, {}),
  page('owner', '/tasks/{task}/cancel', {}),
  page('owner', '/prompt-log', PROMPT_LOG),
  page('owner', '/prompt-log/clear', {}),
  page('owner', `/prompt-log/entries/${UNKNOWN.other}/remove`, {}),
  page('admin', '/admin/accounts', ACCOUNT),
  page('admin', '/admin/accounts/{account}', ACCOUNT),
  page('admin', '/admin/accounts/{account}/top-ups', FUNDING),
  page('admin', '/admin/accounts/{account}/adjustments', {
    ...FUNDING,
    amount: '-0.000001',
    reference: 'correction-1',
  }),
  page('admin', '/admin/accounts/{account}/keys', KEY),
  page('admin', '/admin/accounts/{account}/prompt-log', PROMPT_LOG),
  page('admin', '/admin/accounts/{account}/prompt-log/clear', {}),
  page('admin', `/admin/accounts/{account}/prompt-log/entries/${UNKNOWN.other}/remove`, {}),
  page('admin', `/admin/deliveries/${UNKNOWN.other}/resend`, {}),
  page('admin', '/admin/keys/{key}', KEY),
  page('admin', `/admin/keys/${UNKNOWN.key}/revoke`, {}),
  page('admin', '/admin/prices/preview', PRICE),
  page('admin', '/admin/prices', PRICE),
  page('admin', '/admin/prices/set', { prices: [PRICE, { ...PRICE, variant: '1080p' }], dry_run: true }),
  page('admin', '/admin/price-proposals', { source: 'litellm', file: LIST, factor: '1.1', rounding: 'cent' }),
  page('admin', '/admin/price-proposals/{proposal}/apply', { items: ['{item}'] }),
  page('admin', '/admin/price-proposals/{proposal}/undo', {}),
  page('admin', '/admin/price-names', { source: 'litellm', id: 'model-unknown', model: null }),
  page('admin', '/admin/price-simulations', { prices: [PRICE] }),
  page('admin', '/admin/price-lists', { id: 'fuzzed', name: 'Fuzzed', rules: [RULE] }),
  page('admin', '/admin/price-lists/{list}/rules', { rules: [RULE] }),
  page('admin', '/admin/accounts/{account}/price-list', { list: '{list}' }),
  page('admin', '/admin/accounts/{account}/tag-limits', { limits: [{ tag: 'nightly', daily_limit: '5' }] }),
  page('admin', `/admin/upstreams/${UNKNOWN.upstream}/verify`, {}),
  page('admin', '/admin/upstreams', UPSTREAM),
  page('admin', '/admin/upstreams/fuzzed', UPSTREAM),
  page('admin', `/admin/upstreams/${UNKNOWN.upstream}/remove`, {}),
  page('admin', '/admin/upstreams', MEDIA_UPSTREAM),
  page('admin', '/admin/tasks/{task}/cancel', REASON),
  page('admin', '/admin/tasks/{task}/refund', REFUND),
  page('admin', '/admin/tasks/{task}/redrive', REASON),
  page('admin', '/admin/reconciliations', { full: false }),
  page('admin', '/admin/people/invitations', { ...INVITATION, role: 'ops_viewer' }),
  page('admin', `/admin/people/${UNKNOWN.user}`, { operator_role: 'ops_viewer', disabled: false }),
];

/** Sign-ins, which throttle guesses, and sign-outs, which must not end another session. */
export const DOOR_TARGETS: readonly Target[] = [
  page('visitor', '/sign-in/link', { code: 'an-unknown-code-0123456789' }),
  page('visitor', '/sign-in/password', { email: 'a@example.com', password: 'a long pass phrase' }),
  page('visitor', '/sign-in/key', { key: 'sk-unknown-0123456789' }),
  page('visitor', '/sign-in/operator', { token: 'an-unknown-token' }),
  page('visitor', '/sign-in/passkey/options', {}),
  page('visitor', '/sign-in/passkey', PASSKEY),
  page('visitor', '/sign-in/oidc', { to: '/console' }),
  page('visitor', '/sign-in/invitation/preview', { code: 'an-unknown-code-0123456789' }),
  page('visitor', '/sign-in/invitation', {
    code: 'an-unknown-code-0123456789',
    name: 'A',
    email: 'a@example.com',
    password: 'a long pass phrase',
  }),
  page('visitor', '/session/sign-out', {}),
  page('visitor', '/session/sign-out-everywhere', {}),
  page('visitor', '/session/proof', { password: 'a long pass phrase' }),
  page('visitor', '/session/proof/passkey', PASSKEY),
];

/** What people and programs of the operator and of accounts send to other routes than the public ones. */
export const OPERATOR_TARGETS: readonly Target[] = [...ADMIN_TARGETS, ...CONSOLE_TARGETS];
