-- 000017_scopes_of_environments.sql · compatible: no row names an environment yet

-- An entry that names an environment goes with it.
alter table secret_scopes
  add foreign key (account_id, environment_id) references environments (account_id, id) on delete cascade;
alter table secret_manager_scopes
  add foreign key (account_id, environment_id) references environments (account_id, id) on delete cascade;
create index secret_scopes_by_environment on secret_scopes (account_id, environment_id);
create index secret_manager_scopes_by_environment on secret_manager_scopes (account_id, environment_id);
