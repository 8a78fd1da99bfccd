-- Public names of embedding models to the upstream's own: it is asked for them at /embeddings.
alter table upstream add column embedding_models jsonb not null default '{}';
