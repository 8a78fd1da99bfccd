-- The audit is asked for a subject by its id alone, which is unique over all types, newest first.
create index audit_by_subject on audit_record (subject_id, created_at desc, id desc);
drop index audit_of_subject;
