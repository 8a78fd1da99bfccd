-- When the vendor call that start_intent_at announced came back without an answer. Null after an intent: nobody knows,
-- because the worker went silent during the call.
alter table task add column start_ended_at timestamptz;

-- One account beyond these would stop the claims of every worker.
alter table account add constraint account_priority_bounded check (priority between -100 and 100);
alter table account add constraint account_running_tasks_counted check (max_running_tasks >= 0);
alter table api_key add constraint api_key_running_tasks_counted check (max_running_tasks >= 0);
