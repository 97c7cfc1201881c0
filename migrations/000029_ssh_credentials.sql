-- 000029_ssh_credentials.sql · compatible: an older server shows a credential as a text without a content; make some once all are newer

-- Who logs in where, and the names of the secrets that it takes: never a value, which stands sealed in those secrets.
alter table secrets
  add column ssh jsonb,
  drop constraint secrets_type_check,
  add constraint secrets_type_check check (type in ('ENCRYPTED_TEXT', 'ENCRYPTED_FILE', 'SSH_CREDENTIAL')),
  add constraint secrets_ssh_check check ((type = 'SSH_CREDENTIAL') = (ssh is not null));
