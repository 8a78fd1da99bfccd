-- How calls of text upstreams ended lately, at all replicas: counts of a minute by how long the calls took. Bucket n holds
-- what took at most 1.1 ^ n milliseconds.
create table text_call_minute (
  upstream text not null,
  minute timestamptz not null,
  succeeded boolean not null,
  bucket smallint not null,
  calls integer not null,
  primary key (upstream, minute, succeeded, bucket)
);

-- The newest failure of each.
create table text_call_failure (
  upstream text primary key,
  failed_at timestamptz not null,
  code text not null,
  message text not null
);
