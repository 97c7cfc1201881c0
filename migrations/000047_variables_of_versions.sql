-- 000047_variables_of_versions.sql · compatible: yes

-- The variables of a version as GraphQL shows them: JSON, as text, whose length is read without the text. Null for a
-- version that an older server has saved: they are computed once, when they are first asked for.
alter table pipeline_versions add column variables text;
