-- Finished deliveries go when they are old; those still to be sent are not in the index.
create index webhook_delivery_finished on webhook_delivery (finished_at) where finished_at is not null;

-- How far work has come that passes over a table once, in the order of its ids. No row: it has not begun.
create table maintenance_position (
  job text primary key,
  position text not null
);

-- Nothing reads it: a rotated key keeps its row. No release has had it.
alter table api_key drop column replaces_key_id;
