-- 000014_settings.sql · compatible: new tables only

-- What was set, where. A setting without a row at a scope has there what its parent has.
create table settings (
  account_id         uuid    not null references accounts (id),
  org_identifier     text,
  project_identifier text,
  identifier         text    not null,
  value              text    not null,
  allow_overrides    boolean not null,
  updated_at         bigint  not null,
  foreign key (account_id, org_identifier) references organizations (account_id, identifier),
  foreign key (account_id, org_identifier, project_identifier) references projects (account_id, org_identifier, identifier),
  unique nulls not distinct (account_id, org_identifier, project_identifier, identifier)
);

-- How many requests a subject (an account, or one of its tokens) made in each of the last periods.
-- Unlogged: after a crash everybody starts afresh, and no commit waits for the disk.
create unlogged table request_counts (
  account_id uuid   not null,
  subject    text   not null,
  period     bigint not null,
  used       bigint not null,
  primary key (account_id, subject, period)
);
