-- Deliveries are taken receiver by receiver, so that one that never answers does not hold up the others. The receiver is
-- the host and port of the address; only deliveries still to be sent are in the index.
create index webhook_delivery_due_of_receiver on webhook_delivery (split_part(url, '/', 3), next_attempt_at)
  where next_attempt_at is not null;
