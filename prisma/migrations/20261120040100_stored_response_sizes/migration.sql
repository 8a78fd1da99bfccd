-- How much a conversation would take up is known before any of it is read.
alter table text_response add column size_bytes integer not null default 0;
alter table text_item add column size_bytes integer not null default 0;
update text_response set size_bytes = octet_length(response::text) + octet_length(input_items::text);
update text_item set size_bytes = octet_length(item::text);
