-- 000026_key_rotations.sql · compatible: an older server leaves the new columns null, and neither reads nor writes the table

-- The content whose bytes these are, sealed anew; null when they came from outside. A reader that is half through the
-- former goes on with this one.
alter table secret_contents add column origin_id uuid;
-- The rotation of data keys that has sealed it, so that one that was interrupted goes on where it stopped.
alter table secret_contents add column rotation_id uuid;

create table key_rotations (
  account_id  uuid    not null references accounts (id),
  id          uuid    not null,
  kind        text    not null check (kind in ('data-keys')),
  started_at  bigint  not null,
  finished_at bigint,
  primary key (account_id, id)
);
-- One at a time: a second command goes on with the first one's.
create unique index key_rotations_open on key_rotations (account_id, kind) where finished_at is null;
