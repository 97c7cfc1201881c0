-- 000012_scope_keys.sql · compatible: indexes and foreign keys that hold already

create index organizations_by_name on organizations (account_id, name, id);
create index projects_by_organization on projects (account_id, org_identifier, name, id);

-- What lies in a scope keeps it from vanishing under its feet: the deletion of a project or organization removes what
-- it finds, and a row that is written meanwhile waits for the end of the deletion and is refused.
alter table connectors add foreign key (account_id, org_identifier) references organizations (account_id, identifier);
alter table connectors add foreign key (account_id, org_identifier, project_identifier)
  references projects (account_id, org_identifier, identifier);
alter table secrets add foreign key (account_id, org_identifier) references organizations (account_id, identifier);
alter table secrets add foreign key (account_id, org_identifier, project_identifier)
  references projects (account_id, org_identifier, identifier);
