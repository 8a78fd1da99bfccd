import type { Statement } from '#platform';

/** Records of one account over its last month: 1,000 tokens of input and 100 of output each, at 2 and 10 for a million, that cost half of it. */
export const monthOfUsage = (accountId: string, records: number): Statement => ({
  text: `
    insert into usage_record (id, account_id, api_key_id, kind, model, request_id, status, amount_micros, upstream, cost_micros, cost_unit,
      cost_worth_micros, input_tokens, output_tokens, created_at, lines)
    select 'usage_' || n, $1, 'key', 'text', case when n % 2 = 0 then 'vendor-5' else 'vendor-4-vision' end, 'req_' || n, 'completed', 3000,
      'acme', 1500, 'USD', 1500, 1000, 100, now() - n * interval '25 seconds',
      '[{"unit":"input_token","variant":"default","quantity":1000,"amount_micros":"2000"},
        {"unit":"output_token","variant":"default","quantity":100,"amount_micros":"1000"}]'::jsonb
    from generate_series(1, $2) n`,
  values: [accountId, records],
  limit: 'long',
});
