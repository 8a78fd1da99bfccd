-- A price may hold from a number of input tokens on ("more than 272,000" begins at 272001); 0 is the price of shorter input.
--
-- Processes of the version before read the newest row of each model, unit and variant, and add rows by the key of those and the
-- moment. So that none of them ever takes the price of a band for the price of the model, the variant of a banded row
-- names its band as well ("default@272001"): they ask for no such variant, cannot write one, and sell at the price of shorter input
-- until they are gone. The check holds both in step; everything else reads the column.
alter table price
  add column from_input_tokens bigint not null default 0,
  add constraint price_band_named check (from_input_tokens >= 0 and case when from_input_tokens = 0
    then position('@' in variant) = 0
    else position('@' in variant) > 1 and variant = split_part(variant, '@', 1) || '@' || from_input_tokens end);

-- Sound, pictures and long cache writes by tokens, and what a vendor takes for each request and each search of its own. The version
-- before sells such tokens as text.
alter table price drop constraint price_unit_known, add constraint price_unit_known check (unit in
  ('second', 'image', 'request', 'input_token', 'cached_input_token', 'cache_write_token', 'cache_write_long_token',
   'audio_input_token', 'image_token', 'output_token', 'reasoning_token', 'audio_output_token', 'image_output_token',
   'vendor_web_search_call', 'file_search_call', 'web_search_call', 'mcp_call', 'tool_round', 'storage_mb_day'));
