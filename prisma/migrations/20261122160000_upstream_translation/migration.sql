-- How requests of other interfaces are put into words for an upstream: tools it lacks, reasoning, prompt cache.
alter table upstream add column translation jsonb not null default '{}';
