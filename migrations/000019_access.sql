-- 000019_access.sql · compatible: an older server goes on with users.role, where whoever comes from now on may look and no more

create table roles (
  account_id         uuid    not null references accounts (id),
  id                 uuid    not null,
  org_identifier     text,
  project_identifier text,
  identifier         text    not null,
  name               text    not null,
  description        text    not null,
  tags               jsonb   not null,
  permissions        text[]  not null,
  -- Where the role may be assigned: account, organization, project.
  scope_levels       text[]  not null,
  created_at         bigint  not null,
  updated_at         bigint  not null,
  primary key (account_id, id),
  unique nulls not distinct (account_id, org_identifier, project_identifier, identifier),
  foreign key (account_id, org_identifier) references organizations (account_id, identifier),
  foreign key (account_id, org_identifier, project_identifier) references projects (account_id, org_identifier, identifier)
);

create table resource_groups (
  account_id         uuid    not null references accounts (id),
  id                 uuid    not null,
  org_identifier     text,
  project_identifier text,
  identifier         text    not null,
  name               text    not null,
  description        text    not null,
  color              text    not null,
  tags               jsonb   not null,
  scope_levels       text[]  not null,
  -- [{org, project, children}]
  included_scopes    jsonb   not null,
  every_resource     boolean not null,
  -- [{type, identifiers}]; identifiers null: all of the type.
  resources          jsonb   not null,
  created_at         bigint  not null,
  updated_at         bigint  not null,
  primary key (account_id, id),
  unique nulls not distinct (account_id, org_identifier, project_identifier, identifier),
  foreign key (account_id, org_identifier) references organizations (account_id, identifier),
  foreign key (account_id, org_identifier, project_identifier) references projects (account_id, org_identifier, identifier)
);

create table user_groups (
  account_id         uuid    not null references accounts (id),
  id                 uuid    not null,
  org_identifier     text,
  project_identifier text,
  identifier         text    not null,
  name               text    not null,
  description        text    not null,
  tags               jsonb   not null,
  -- Kept by an identity provider: the ordinary interface leaves it alone.
  externally_managed boolean not null,
  external_id        text,
  version            int     not null,
  created_at         bigint  not null,
  updated_at         bigint  not null,
  primary key (account_id, id),
  unique nulls not distinct (account_id, org_identifier, project_identifier, identifier),
  foreign key (account_id, org_identifier) references organizations (account_id, identifier),
  foreign key (account_id, org_identifier, project_identifier) references projects (account_id, org_identifier, identifier)
);
create index user_groups_by_name on user_groups (account_id, name, id);

create table user_group_members (
  account_id uuid   not null,
  group_id   uuid   not null,
  user_id    uuid   not null,
  created_at bigint not null,
  primary key (account_id, group_id, user_id),
  foreign key (account_id, group_id) references user_groups (account_id, id) on delete cascade,
  foreign key (account_id, user_id) references users (account_id, id) on delete cascade
);
create index user_group_members_by_user on user_group_members (account_id, user_id);

create table role_assignments (
  account_id           uuid    not null references accounts (id),
  id                   uuid    not null,
  org_identifier       text,
  project_identifier   text,
  identifier           text    not null,
  principal_type       text    not null check (principal_type in ('USER', 'USER_GROUP', 'SERVICE_ACCOUNT')),
  -- Null for a built-in group, which has no row.
  principal_id         uuid,
  -- As it was named: a person by the id, a group or service account by the identifier.
  principal_identifier text    not null,
  principal_level      text    not null check (principal_level in ('account', 'organization', 'project')),
  -- The id is null for what is built in.
  role_identifier      text    not null,
  role_level           text    not null check (role_level in ('account', 'organization', 'project')),
  role_id              uuid,
  resource_group_identifier text not null,
  resource_group_id    uuid,
  disabled             boolean not null,
  created_at           bigint  not null,
  updated_at           bigint  not null,
  primary key (account_id, id),
  unique nulls not distinct (account_id, org_identifier, project_identifier, identifier),
  foreign key (account_id, org_identifier) references organizations (account_id, identifier),
  foreign key (account_id, org_identifier, project_identifier) references projects (account_id, org_identifier, identifier),
  -- What is assigned stays until it is no longer.
  foreign key (account_id, role_id) references roles (account_id, id),
  foreign key (account_id, resource_group_id) references resource_groups (account_id, id)
);
-- The same thing is not given twice.
create unique index role_assignments_once on role_assignments
  (account_id, org_identifier, project_identifier, principal_type, principal_id, principal_identifier,
   role_identifier, role_id, resource_group_identifier, resource_group_id) nulls not distinct;
create index role_assignments_by_principal on role_assignments (account_id, principal_id);
create index role_assignments_by_role on role_assignments (account_id, role_id);
create index role_assignments_by_resource_group on role_assignments (account_id, resource_group_id);

insert into role_assignments
  (account_id, id, identifier, principal_type, principal_id, principal_identifier, principal_level, role_identifier,
   role_level, resource_group_identifier, disabled, created_at, updated_at)
  select account_id, uuidv7(), 'role_assignment_' || replace(id::text, '-', ''), 'USER', id,
         translate(rtrim(encode(decode(replace(id::text, '-', ''), 'hex'), 'base64'), '='), '+/', '-_'), 'account', role,
         'account', '_all_resources_including_child_scopes', false, created_at, created_at
    from users;
-- For older servers alone: nothing reads it any more.
alter table users alter column role set default '_account_viewer';
