-- The work of tools that the gateway runs, and each further round of a model that called some, may have prices.
alter table price drop constraint price_unit_known, add constraint price_unit_known check (unit in
  ('second', 'image', 'request', 'input_token', 'cached_input_token', 'cache_write_token', 'output_token',
   'reasoning_token', 'image_token', 'file_search_call', 'web_search_call', 'mcp_call', 'tool_round'));
