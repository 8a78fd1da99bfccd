-- An index row takes 2,704 bytes, and an address or what a vendor calls its work may be longer: a row that does not fit into an
-- index keeps whatever belongs to its statement from being written. So indexes hold the hash or the beginning of such a text.
create unique index webhook_delivery_once_per_address on webhook_delivery (task_id, event_type, md5(url)) where task_id is not null;
drop index webhook_delivery_once_per_event;

create index webhook_delivery_ready_for_receiver on webhook_delivery (account_id, left(split_part(url, '/', 3), 260), next_attempt_at)
  where ready and next_attempt_at is not null;
drop index webhook_delivery_ready;

alter table upstream_orphan add column operation_hash text not null generated always as (md5(operation::text)) stored;
alter table upstream_orphan drop constraint upstream_orphan_pkey;
alter table upstream_orphan add primary key (task_id, operation_hash);

-- Addresses that were measured before they were written out, and are longer than any that is called. Tasks that could not
-- end for them are worked on at once, as if nothing had failed.
update webhook_endpoint set disabled_at = now()
where disabled_at is null and (length(url) > 2048 or length(split_part(url, '/', 3)) > 260);

update task set webhook_url = null, version = version + 1, failures = 0, lapses = 0, sudden_lapses = 0,
  notices = notices || array['Its webhook_url is longer than 2048 characters as it would be called, and is not called.']
where finished_at is null and (length(webhook_url) > 2048 or length(split_part(webhook_url, '/', 3)) > 260);

update webhook_delivery set state = 'failed', next_attempt_at = null, finished_at = now(),
  last_error = 'The address is longer than any that is called.'
where next_attempt_at is not null and (length(url) > 2048 or length(split_part(url, '/', 3)) > 260);
