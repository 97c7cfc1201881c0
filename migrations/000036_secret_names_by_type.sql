-- 000036_secret_names_by_type.sql · compatible: yes

-- Clients of this API family name secrets once for each type: a text and a file may share a name.
drop index secrets_by_name;
create unique index secrets_by_name on secrets (account_id, name, type) where org_identifier is null;
