-- The upstream that wrote a response, and its vendor account: what continues it goes there, where the prompt cache is and its proofs of
-- reasoning can be read. Null in those of older versions.
alter table text_response add column upstream text, add column vendor_account text;
