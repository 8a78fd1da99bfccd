-- Who and what a request was for, as its client and its key say; null: they said nothing. A task keeps it for its usage record.
alter table usage_record add column session text, add column agent text, add column end_user text, add column tags text[];
alter table task add column session text, add column agent text, add column end_user text, add column tags text[];
alter table api_key add column tags text[] not null default '{}';

-- The tags whose sums are kept by name: the first thousand that an account sends, and those with a limit, which need no place.
create table account_tag (
  account_id text not null references account (id),
  tag text not null,
  place integer check (place between 1 and 1000),
  primary key (account_id, tag),
  unique (account_id, place)
);

create table usage_daily_by_tag (
  account_id text not null references account (id),
  tag text not null,
  day date not null,
  requests bigint not null default 0,
  failed_requests bigint not null default 0,
  amount_micros bigint not null default 0,
  quantity bigint not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  primary key (account_id, tag, day)
);
create index usage_daily_by_tag_by_day on usage_daily_by_tag (day);

-- What the work of a tag may cost in a day and in a month of UTC; null: no limit.
create table tag_limit (
  account_id text not null references account (id),
  tag text not null,
  daily_limit_micros bigint check (daily_limit_micros >= 0),
  monthly_limit_micros bigint check (monthly_limit_micros >= 0),
  primary key (account_id, tag)
);

-- The tags of a hold that have a limit.
alter table request_hold add column limited_tags text[];
create index request_hold_of_tags on request_hold (account_id) where limited_tags is not null;

-- The names under which work with these tags is summed up. Called behind the lock of the account, and each of its statements sees
-- what was committed before: two of them never give away the same place.
create function counted_tags(of_account text, of_tags text[]) returns setof text language plpgsql strict as $$
declare
  next_tag text;
  last_place integer;
  is_other boolean := false;
begin
  foreach next_tag in array of_tags loop
    if next_tag <> 'other' and exists (select from account_tag where account_id = of_account and tag = next_tag) then
      return next next_tag;
      continue;
    end if;
    if next_tag <> 'other' then
      select max(place) into last_place from account_tag where account_id = of_account;
      if coalesce(last_place, 0) < 1000 then
        insert into account_tag (account_id, tag, place) values (of_account, next_tag, coalesce(last_place, 0) + 1);
        return next next_tag;
        continue;
      end if;
    end if;
    if not is_other then
      is_other := true;
      return next 'other';
    end if;
  end loop;
end $$;

-- What open work with the tag holds, and what such work has cost since the running day or month began.
create function tag_held(of_account text, of_tag text) returns bigint language sql stable as $$
  select (select coalesce(sum(amount_micros), 0) from request_hold
      where account_id = of_account and limited_tags is not null and limited_tags @> array[of_tag])::bigint
    + (select coalesce(sum(hold_micros), 0) from task
      where account_id = of_account and tags is not null and finished_at is null and tags @> array[of_tag])::bigint
$$;

create function tag_spent(of_account text, of_tag text, of_period text) returns bigint language sql stable as $$
  select coalesce(sum(amount_micros), 0)::bigint from usage_daily_by_tag
  where account_id = of_account and tag = of_tag and day >= date_trunc(of_period, now() at time zone 'utc')::date
$$;

-- What the limits of the tags leave; null where none has one. Volatile: called behind the lock of the account, it sees what others held
-- before they let go of that lock.
create function tag_room(of_account text, of_tags text[]) returns bigint language plpgsql volatile as $$
begin
  return (
    select min(least(l.daily_limit_micros - tag_spent(of_account, l.tag, 'day'),
      l.monthly_limit_micros - tag_spent(of_account, l.tag, 'month')) - tag_held(of_account, l.tag))
    from tag_limit l where l.account_id = of_account and l.tag = any(of_tags));
end $$;
