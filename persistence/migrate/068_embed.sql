-- The origins whose pages may show an organization's events in a frame, as Content-Security-Policy writes them.
ALTER TABLE organizations ADD embed_origins text[] NOT NULL DEFAULT '{}';
