-- Whether the cost of a usage record is what the vendor reported, or by the figures of the upstream's entry. Null: there is no cost, or a
-- version before this one wrote it and did not say.
alter table usage_record add column cost_is_reported boolean;
