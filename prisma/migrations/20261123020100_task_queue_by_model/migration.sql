-- A claim passes over models that no vendor takes now and keys at their limit without looking at their tasks.
create index task_queue_of_model on task (medium, account_id, api_key_id, model, lease_until) where state = 'queued';
