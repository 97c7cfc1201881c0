-- 000009_applications.sql · compatible: an older server leaves created_by null

-- Who made the project; null for those made before this column, and by no person.
alter table projects add column created_by uuid;
-- Applications are listed and found by name.
create index projects_by_name on projects (account_id, name, id);
