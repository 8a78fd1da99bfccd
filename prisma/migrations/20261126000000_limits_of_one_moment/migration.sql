-- Since the running period began: what was used by now, less what was used when the period began. That is read from the mark,
-- or, until there is one, from the row and the daily sums of one moment. A statement that waited for the lock of the row has
-- its newest `used_micros`, but sees every other row as it was before: the daily sums alone would leave out what was spent
-- meanwhile.
create or replace function spent_micros(of_account text, of_key text, of_period text, used_micros bigint) returns bigint
language sql stable as $$
  select spent_micros.used_micros - coalesce(
    (select m.base_micros from spend_mark m
      where m.subject_id = coalesce(of_key, of_account) and m.period = of_period
        and m.started_on = date_trunc(of_period, now() at time zone 'utc')::date),
    (case when of_key is null then (select a.used_micros from account a where a.id = of_account)
      else (select k.used_micros from api_key k where k.id = of_key) end)
    - (select coalesce(sum(d.amount_micros), 0)::bigint from usage_daily d
      where d.account_id = of_account and d.day >= date_trunc(of_period, now() at time zone 'utc')::date
        and (of_key is null or d.api_key_id = of_key)))
$$;
