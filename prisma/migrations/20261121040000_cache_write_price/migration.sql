-- Some vendors charge more for what they write to a cache than for other input.
alter table price drop constraint price_unit_known, add constraint price_unit_known check (unit in
  ('second', 'image', 'request', 'input_token', 'cached_input_token', 'cache_write_token', 'output_token',
   'reasoning_token', 'image_token'));
