-- When we learned that the vendor was done, so that the time until clients see the files can be measured.
alter table task add column produced_at timestamptz;
