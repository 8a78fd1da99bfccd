-- What files of accounts take up may have a price: of the model "file-storage", for each MiB that lies for a day.
alter table price drop constraint price_unit_known, add constraint price_unit_known check (unit in
  ('second', 'image', 'request', 'input_token', 'cached_input_token', 'cache_write_token', 'output_token',
   'reasoning_token', 'image_token', 'file_search_call', 'web_search_call', 'mcp_call', 'tool_round', 'storage_mb_day'));

-- Bytes times seconds that were not closed yet, up to "metered_at"; since then there are "bytes". Once a day what there is
-- is closed: whole MiB-days become "due", under the name of the request that charges them, and the rest stays.
alter table file_usage
  add column byte_seconds numeric not null default 0,
  add column metered_at timestamptz not null default now(),
  add column closed_on date not null default (now() at time zone 'utc')::date,
  add column due_mb_days bigint not null default 0,
  add column due_request_id text,
  -- The key that uploaded last, on whose bill it stands.
  add column api_key_id text references api_key (id);
create index file_usage_open on file_usage (closed_on);
