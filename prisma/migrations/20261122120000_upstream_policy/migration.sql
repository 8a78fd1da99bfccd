-- What an upstream may be asked for although the gateway has no price for it, and whether it fetches the URLs of requests
-- from the operator's own network.
alter table upstream
  add column allow jsonb not null default '{}',
  add column fetches_urls text not null default 'vendor',
  add constraint upstream_fetches_urls_known check (fetches_urls in ('vendor', 'self'));
