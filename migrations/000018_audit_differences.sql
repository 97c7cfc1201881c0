-- 000018_audit_differences.sql · compatible: an older server leaves the new column null

-- What the change changed: `{"changes": [{"field", "before", "after"} or {"field", "lines"}], "cut"}`; null when there is
-- nothing to compare. `json` keeps the text as it was written, to the letter: it is part of what the chain of the trail
-- is computed over.
alter table audit_entries add column difference json;
