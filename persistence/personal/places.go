package personal

// place is a table that knows something about a person. erase is the statement that removes the
// person from it. section names the part of the export that shows the table, and read returns that
// part, one JSON value a row. section is "" if the export shows the table in records of the API, or
// if the rows belong to an organization rather than to the person. The statements may use @user,
// @address (in lower case) and @pseudonym.
type place struct {
	table, section string
	read, erase    string
}

// places stand in the order in which they are erased. Rows that are found through another table
// must be erased before that table's rows. The ledgers, and what is built from their facts, are
// erased before all of these.
var places = []place{
	{table: "users", erase: `UPDATE users SET email = @pseudonym WHERE id = @user`}, // Begin does the rest
	{
		table: "members", section: "organizations",
		read: `
SELECT jsonb_build_object('id', o.id::text, 'name', o.name, 'role', m.role, 'joinedAt', m.joined_at)
FROM members m JOIN organizations o ON o.id = m.org WHERE m.usr = @user ORDER BY o.id`,
		erase: `DELETE FROM members WHERE usr = @user`,
	},
	{
		table: "sessions", section: "sessions",
		read: `
SELECT jsonb_build_object('createdAt', created_at, 'lastUsedAt', last_used_at, 'clientAddress', client_address, 'userAgent', user_agent)
FROM sessions WHERE usr = @user ORDER BY created_at`,
		erase: `UPDATE sessions SET client_address = '', user_agent = '' WHERE usr = @user`,
	},
	{table: "login_codes", erase: `DELETE FROM login_codes WHERE email = @address`},
	{table: "open_codes", erase: `DELETE FROM open_codes WHERE email = @address`},
	{table: "buyer_names", erase: `DELETE FROM buyer_names WHERE email = @address`},
	{
		table: "reviews", section: "reviews",
		read: `
SELECT jsonb_build_object('id', r.id, 'event', e.title, 'rating', r.rating, 'body', r.body, 'authorName', r.author_name, 'reply', r.reply, 'createdAt', r.created_at)
FROM attendees a JOIN reviews r ON r.event = a.event_id AND r.ticket = a.serial JOIN events e ON e.number = r.event
WHERE a.holder = @address OR lower(btrim(a.email)) = @address ORDER BY r.number`,
		erase: `
DELETE FROM reviews r USING attendees a WHERE r.event = a.event_id AND r.ticket = a.serial
  AND (a.holder IN (@address, @pseudonym) OR lower(btrim(a.email)) IN (@address, @pseudonym))`,
	},
	{
		table: "attendees", section: "attending", // with other people's tickets; a person's own are in the orders' tickets
		read: `
SELECT jsonb_build_object('eventId', e.public_id, 'event', e.title, 'email', a.email, 'name', a.name, 'issuedAt', a.issued_at)
FROM attendees a JOIN events e ON e.number = a.event_id
WHERE lower(btrim(a.email)) = @address AND a.holder <> @address ORDER BY a.issued_at`,
		erase: `
UPDATE attendees SET holder = CASE WHEN holder = @address THEN @pseudonym ELSE holder END,
  name = CASE WHEN lower(btrim(email)) = @address THEN '' ELSE name END,
  email = CASE WHEN lower(btrim(email)) = @address THEN @pseudonym ELSE email END
WHERE holder = @address OR lower(btrim(email)) = @address`,
	},
	{table: "customer_notes", erase: `DELETE FROM customer_notes WHERE customer IN (SELECT number FROM customers WHERE email = @address)`},
	{table: "customers", erase: `DELETE FROM customers WHERE email = @address`}, // there is a new row for the pseudonym
	{table: "reports", erase: `DELETE FROM reports WHERE reporter = @user`},
	{table: "messages", erase: `DELETE FROM messages WHERE thread IN (SELECT id FROM message_threads WHERE buyer = @user)`},
	{table: "message_threads", erase: `DELETE FROM message_threads WHERE buyer = @user`},
	{
		table: "org_followers", section: "following",
		read: `
SELECT jsonb_build_object('organization', o.name, 'name', f.name, 'following', f.following, 'changedAt', f.changed_at)
FROM org_followers f JOIN organizations o ON o.id = f.org WHERE f.email = @address ORDER BY f.number`,
		erase: `DELETE FROM org_followers WHERE email = @address`,
	},
	{
		table: "mail_suppressions", section: "suppressions",
		read: `
SELECT jsonb_build_object('organization', o.name, 'reason', s.reason, 'createdAt', s.created_at)
FROM mail_suppressions s LEFT JOIN organizations o ON o.id = s.org WHERE s.email = @address ORDER BY s.created_at`,
		erase: `DELETE FROM mail_suppressions WHERE email = @address`,
	},
	{
		table: "broadcast_recipients", section: "broadcasts",
		read: `
SELECT jsonb_build_object('subject', b.subject, 'name', r.name, 'status', r.status, 'createdAt', b.created_at)
FROM broadcast_recipients r JOIN broadcasts b ON b.id = r.broadcast WHERE r.email = @address ORDER BY b.number`,
		erase: `DELETE FROM broadcast_recipients WHERE email = @address`,
	},
	{
		table: "course_learners", section: "courses",
		read: `
SELECT jsonb_build_object('event', e.title, 'progress', l.progress)
FROM course_learners l JOIN events e ON e.number = l.event WHERE l.holder = @address ORDER BY l.event`,
		erase: `DELETE FROM course_learners WHERE holder = @address`,
	},
	{
		table: "course_certificates", section: "certificates",
		read: `
SELECT jsonb_build_object('number', number, 'name', name, 'title', title, 'organization', organization, 'issuedAt', issued_at)
FROM course_certificates WHERE holder = @address ORDER BY issued_at`,
		erase: `DELETE FROM course_certificates WHERE holder = @address`,
	},
	{table: "river_job", erase: ` -- a mail that is being sent goes to nobody when it is tried again
WITH theirs AS (SELECT id, state FROM river_job WHERE kind = 'mail' AND @address IN (lower(args->>'to'), lower(args->>'from')) FOR UPDATE),
sending AS (UPDATE river_job SET args = args - '{to,from,name}'::text[] WHERE id IN (SELECT id FROM theirs WHERE state = 'running'))
DELETE FROM river_job WHERE id IN (SELECT id FROM theirs WHERE state <> 'running')`},
	{table: "named", erase: `DELETE FROM named WHERE email = @address`},
	{table: "erasures", erase: `UPDATE erasures SET address = '', name = '', done_at = now() WHERE usr = @user`},
}
