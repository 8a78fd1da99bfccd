-- Columns by the words of the glossary. The version before, 0.1.0, uses none of them, so a rename breaks nothing while both run.
alter table upstream_cooldown rename column rest_until to cooling_until;
alter table upstream_cooldown rename column rests to cooldowns;
alter table webhook_receiver rename column rests_until to cooling_until;
alter index webhook_receiver_by_rest rename to webhook_receiver_by_cooldown;
alter table request_hold rename column is_allowance to is_reservation;
comment on column ledger_entry.hold_id is 'The reservation that a capture was taken from; null for a hold of its own.';
