-- The time zone in which an account has its days and months, an IANA name; null: UTC. Daily sums stay those of UTC below.
alter table account add column time_zone text;

-- The moment at which the period of a mark began. Processes of the version before write none, and change `started_on` alone: a mark
-- counts only where both say the same.
alter table spend_mark add column started_at timestamptz;

-- The moment at which a clock of the zone first shows a time. Where clocks are set back over it, the cast names the second one: an hour
-- in which a day has begun and has not. Three hours before, the offset is still that of the first.
create function moment_of(shown timestamp, zone text) returns timestamptz language sql stable as $$
  select case when o.first at time zone zone = shown then least(o.first, o.named) else o.named end
  from (select n.named, n.named - (((n.named - interval '3 hours') at time zone zone) + interval '3 hours' - shown) as first
    from (select shown at time zone zone as named) n) o
$$;

-- When the day or month of an account that runs at a moment began, and when it ends.
create function period_start(of_account text, of_period text, at_moment timestamptz default now()) returns timestamptz
language sql stable as $$
  select moment_of(date_trunc(of_period, at_moment at time zone z.zone), z.zone)
  from (select coalesce((select time_zone from account where id = of_account), 'UTC') as zone) z
$$;
create function period_end(of_account text, of_period text, at_moment timestamptz default now()) returns timestamptz
language sql stable as $$
  select moment_of(date_trunc(of_period, at_moment at time zone z.zone) + ('1 ' || of_period)::interval, z.zone)
  from (select coalesce((select time_zone from account where id = of_account), 'UTC') as zone) z
$$;

-- The first day of UTC that begins at a moment or after it.
create function first_whole_day(since timestamptz) returns date language sql immutable as $$
  select ((since at time zone 'utc') + interval '1 day' - interval '1 microsecond')::date
$$;

-- What was used since a moment: whole days of UTC from their sums, and the part of a day before them from its records, which are none
-- for an account whose days are those of UTC.
create function used_since(of_account text, of_key text, since timestamptz) returns bigint language sql stable as $$
  select (coalesce((select sum(d.amount_micros) from usage_daily d
      where d.account_id = of_account and d.day >= first_whole_day(since) and (of_key is null or d.api_key_id = of_key)), 0)
    + coalesce((select sum(r.amount_micros) from usage_record r
      where r.account_id = of_account and r.created_at >= since
        and r.created_at < first_whole_day(since)::timestamp at time zone 'utc'
        and (of_key is null or r.api_key_id = of_key)), 0))::bigint
$$;

-- As before, with the beginning of the period in the time zone of the account.
create or replace function spent_micros(of_account text, of_key text, of_period text, used_micros bigint) returns bigint
language sql stable as $$
  select spent_micros.used_micros - coalesce(
    (select m.base_micros from spend_mark m
      where m.subject_id = coalesce(of_key, of_account) and m.period = of_period
        and m.started_on = (p.began at time zone 'utc')::date
        and coalesce(m.started_at, m.started_on::timestamp at time zone 'utc') = p.began),
    (case when of_key is null then (select a.used_micros from account a where a.id = of_account)
      else (select k.used_micros from api_key k where k.id = of_key) end) - used_since(of_account, of_key, p.began))
  from (select period_start(of_account, of_period) as began) p
$$;

-- The same of work with a tag.
create function tag_used_since(of_account text, of_tag text, since timestamptz) returns bigint language sql stable as $$
  select (coalesce((select sum(d.amount_micros) from usage_daily_by_tag d
      where d.account_id = of_account and d.tag = of_tag and d.day >= first_whole_day(since)), 0)
    + coalesce((select sum(r.amount_micros) from usage_record r
      where r.account_id = of_account and r.created_at >= since
        and r.created_at < first_whole_day(since)::timestamp at time zone 'utc'
        and r.tags is not null and r.tags @> array[of_tag]), 0))::bigint
$$;

-- The sum of the days of UTC from the one in which a moment lies.
create function tag_used_from_day_of(of_account text, of_tag text, since timestamptz) returns bigint language sql stable as $$
  select coalesce(sum(amount_micros), 0)::bigint from usage_daily_by_tag
  where account_id = of_account and tag = of_tag and day >= (since at time zone 'utc')::date
$$;

-- Holds wait behind the lock of the account: once the period has a mark, what it is over the daily sums is not read from records.
create or replace function tag_spent(of_account text, of_tag text, of_period text) returns bigint language sql stable as $$
  select coalesce(
    (select tag_used_from_day_of(of_account, of_tag, p.began) - m.base_micros from spend_mark m
      where m.subject_id = of_account || ' ' || of_tag and m.period = of_period and m.started_at = p.began),
    tag_used_since(of_account, of_tag, p.began))
  from (select period_start(of_account, of_period) as began) p
$$;
