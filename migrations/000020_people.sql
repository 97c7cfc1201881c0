-- 000020_people.sql · compatible: an older server leaves the new columns at what they begin with

alter table users
  add column given_name   text not null default '',
  add column family_name  text not null default '',
  -- What somebody chose to be called; null where the name is made of the others.
  add column display_name text,
  -- The userName of a directory as it was written, and folded for comparison; null where it is the e-mail address.
  add column user_name    text,
  add column user_key     text,
  -- What the directory calls the person.
  add column external_id  text,
  add column active         boolean not null default true,
  add column email_verified boolean not null default false,
  -- A directory looks after this person: what it says is changed there.
  add column managed_externally boolean not null default false,
  -- What a directory says beyond the columns, in its own words (SCIM attributes).
  add column directory   jsonb  not null default '{}',
  add column updated_at  bigint not null default 0,
  add column version     int    not null default 1,
  -- Whoever has left stays as the maker of what they made; nothing else finds them.
  add column deleted_at  bigint;

update users set email = lower(normalize(email, nfkc)), updated_at = created_at;

drop index users_by_email;
create unique index users_by_email on users (account_id, email) where deleted_at is null;
create unique index users_by_user_name on users (account_id, coalesce(user_key, email)) where deleted_at is null;
create index users_by_external_id on users (account_id, external_id) where external_id is not null;
