-- What an organization tells about itself.
ALTER TABLE organizations
  ADD description   text NOT NULL DEFAULT '',
  ADD website       text NOT NULL DEFAULT '',
  ADD contact_email text NOT NULL DEFAULT '',
  ADD contact_phone text NOT NULL DEFAULT '',
  ADD logo_url      text NOT NULL DEFAULT '',
  ADD type          text NOT NULL DEFAULT 'organizer',
  ADD verified      boolean NOT NULL DEFAULT false,
  ADD status        text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  ADD social_links  jsonb NOT NULL DEFAULT '{}',
  ADD page_theme    jsonb NOT NULL DEFAULT '{}';

ALTER TABLE members
  ADD joined_at timestamptz NOT NULL DEFAULT now(),
  -- Added by e-mail address: whoever acts on it must have proven to have the
  -- mailbox, since anybody may have registered the address before.
  ADD invited   boolean NOT NULL DEFAULT false,
  ADD name      text NOT NULL DEFAULT '', -- of an invited member, as whoever invited knows it
  ADD command   uuid;                     -- that added the member
CREATE INDEX members_of_org ON members (org, usr);
