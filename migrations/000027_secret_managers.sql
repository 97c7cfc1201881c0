-- 000027_secret_managers.sql · compatible: an older server knows one kind of manager; make others once all are newer

-- What a kind has to know, beside its keys, which never stand here.
alter table secret_managers
  add column description text not null default '',
  add column tags jsonb not null default '{}',
  add column spec jsonb not null default '{}',
  -- A further kind is one file of the program, and no migration.
  drop constraint secret_managers_kind_check;
