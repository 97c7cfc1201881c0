-- 000034_what_authors_may_use.sql · compatible: yes

-- What whoever saved it could use then: a trigger runs only what all of its authors may use. Null of what was saved before,
-- or by a server of the former version; that is run as it was.
alter table pipeline_versions add column authority jsonb;
alter table input_sets add column authority jsonb;
