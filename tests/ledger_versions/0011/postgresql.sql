CREATE TABLE ledger (
	id INTEGER NOT NULL,
	uuid VARCHAR NOT NULL,
	secret VARCHAR NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	openness VARCHAR NOT NULL,
	other VARCHAR,
	move VARCHAR,
	PRIMARY KEY (id)
);
CREATE TABLE campaign (
	id SERIAL NOT NULL,
	key VARCHAR NOT NULL,
	service VARCHAR NOT NULL,
	app_url VARCHAR NOT NULL,
	definition VARCHAR NOT NULL,
	belongs_to VARCHAR,
	sheet VARCHAR,
	digest VARCHAR NOT NULL,
	name VARCHAR NOT NULL,
	description VARCHAR NOT NULL,
	state VARCHAR NOT NULL,
	starttime VARCHAR NOT NULL,
	endtime VARCHAR NOT NULL,
	send_invites BOOLEAN NOT NULL,
	ask_first BOOLEAN NOT NULL,
	answer_within INTEGER,
	cooldown INTEGER,
	add_again BOOLEAN DEFAULT false NOT NULL,
	trust VARCHAR DEFAULT 'status' NOT NULL,
	timetable VARCHAR NOT NULL,
	timezone VARCHAR,
	project_state VARCHAR NOT NULL,
	project_attempt INTEGER,
	project_id BIGINT,
	problem_state VARCHAR NOT NULL,
	problem_attempt INTEGER,
	problem_id BIGINT,
	problem_title VARCHAR,
	problem_doubt VARCHAR,
	problem_seen_at TIMESTAMP WITH TIME ZONE,
	why VARCHAR,
	parts INTEGER NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (key)
);
CREATE TABLE do_not_contact (
	id SERIAL NOT NULL,
	email_key VARCHAR NOT NULL,
	mailbox VARCHAR DEFAULT '' NOT NULL,
	email1 VARCHAR NOT NULL,
	file VARCHAR NOT NULL,
	who VARCHAR NOT NULL,
	why VARCHAR NOT NULL,
	listed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	lifted_at TIMESTAMP WITH TIME ZONE,
	lifted_by VARCHAR,
	lifted_why VARCHAR,
	PRIMARY KEY (id)
);
CREATE UNIQUE INDEX listed_once ON do_not_contact (email_key, file) WHERE lifted_at IS NULL;
CREATE INDEX same_mailbox ON do_not_contact (mailbox);
CREATE TABLE forgotten (
	id SERIAL NOT NULL,
	hash VARCHAR NOT NULL,
	box VARCHAR DEFAULT '' NOT NULL,
	who VARCHAR NOT NULL,
	why VARCHAR NOT NULL,
	forgotten_at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (hash)
);
CREATE TABLE approval (
	id SERIAL NOT NULL,
	campaign_key VARCHAR NOT NULL,
	digest VARCHAR NOT NULL,
	read VARCHAR NOT NULL,
	service VARCHAR NOT NULL,
	file VARCHAR NOT NULL,
	definition VARCHAR,
	sheet VARCHAR,
	told VARCHAR NOT NULL,
	held VARCHAR NOT NULL,
	timezone VARCHAR,
	asked_at TIMESTAMP WITH TIME ZONE NOT NULL,
	answer_by TIMESTAMP WITH TIME ZONE,
	answer VARCHAR,
	who VARCHAR,
	why VARCHAR,
	answered_at TIMESTAMP WITH TIME ZONE,
	PRIMARY KEY (id)
);
CREATE INDEX ix_approval_campaign_key ON approval (campaign_key);
CREATE TABLE pause (
	id SERIAL NOT NULL,
	campaign_key VARCHAR NOT NULL,
	who VARCHAR NOT NULL,
	why VARCHAR NOT NULL,
	paused_at TIMESTAMP WITH TIME ZONE NOT NULL,
	resumed_at TIMESTAMP WITH TIME ZONE,
	resumed_by VARCHAR,
	resumed_why VARCHAR,
	PRIMARY KEY (id)
);
CREATE TABLE pace (
	id SERIAL NOT NULL,
	name VARCHAR NOT NULL,
	turn_at TIMESTAMP WITH TIME ZONE,
	paused_until TIMESTAMP WITH TIME ZONE,
	paused_for FLOAT NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (name)
);
CREATE TABLE inbox (
	id SERIAL NOT NULL,
	digest VARCHAR NOT NULL,
	campaign_key VARCHAR NOT NULL,
	file VARCHAR NOT NULL,
	ending VARCHAR NOT NULL,
	seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (digest, campaign_key)
);
CREATE TABLE inbox_place (
	id SERIAL NOT NULL,
	place VARCHAR NOT NULL,
	campaign_key VARCHAR NOT NULL,
	digest VARCHAR NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (place, campaign_key)
);
CREATE TABLE notice (
	id SERIAL NOT NULL,
	flow_run VARCHAR NOT NULL,
	state VARCHAR NOT NULL,
	says VARCHAR NOT NULL,
	noted_at TIMESTAMP WITH TIME ZONE NOT NULL,
	told_at TIMESTAMP WITH TIME ZONE,
	PRIMARY KEY (id),
	UNIQUE (flow_run, state)
);
CREATE TABLE receipt_doubt (
	id SERIAL NOT NULL,
	campaign_key VARCHAR NOT NULL,
	file VARCHAR NOT NULL,
	says VARCHAR NOT NULL,
	seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
	accepted_at TIMESTAMP WITH TIME ZONE,
	who VARCHAR,
	why VARCHAR,
	line VARCHAR,
	reached INTEGER,
	PRIMARY KEY (id)
);
CREATE INDEX ix_receipt_doubt_campaign_key ON receipt_doubt (campaign_key);
CREATE TABLE reading (
	id SERIAL NOT NULL,
	campaign_id INTEGER NOT NULL,
	file VARCHAR NOT NULL,
	digest VARCHAR NOT NULL,
	read_at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(campaign_id) REFERENCES campaign (id)
);
CREATE INDEX ix_reading_campaign_id ON reading (campaign_id);
CREATE TABLE candidate (
	id SERIAL NOT NULL,
	campaign_id INTEGER NOT NULL,
	email_key VARCHAR NOT NULL,
	mailbox VARCHAR DEFAULT '' NOT NULL,
	first_name VARCHAR NOT NULL,
	last_name VARCHAR NOT NULL,
	email1 VARCHAR NOT NULL,
	source VARCHAR NOT NULL,
	notes VARCHAR NOT NULL,
	stage_id INTEGER NOT NULL,
	timezone VARCHAR,
	listed BOOLEAN NOT NULL,
	candidate_id BIGINT,
	add_state VARCHAR NOT NULL,
	add_attempt INTEGER,
	invite_state VARCHAR NOT NULL,
	invite_attempt INTEGER,
	generation INTEGER NOT NULL,
	allowed_attempt INTEGER NOT NULL,
	allowed_entry INTEGER NOT NULL,
	corrected_to INTEGER,
	why VARCHAR,
	PRIMARY KEY (id),
	UNIQUE (campaign_id, email_key),
	FOREIGN KEY(campaign_id) REFERENCES campaign (id),
	FOREIGN KEY(corrected_to) REFERENCES candidate (id)
);
CREATE UNIQUE INDEX one_person_per_id ON candidate (campaign_id, candidate_id) WHERE candidate_id IS NOT NULL;
CREATE INDEX same_person ON candidate (mailbox);
CREATE TABLE run (
	id SERIAL NOT NULL,
	campaign_id INTEGER NOT NULL,
	host VARCHAR NOT NULL,
	pid INTEGER NOT NULL,
	process_start VARCHAR NOT NULL,
	started_at TIMESTAMP WITH TIME ZONE NOT NULL,
	heartbeat_at TIMESTAMP WITH TIME ZONE NOT NULL,
	approval_id INTEGER,
	ended_at TIMESTAMP WITH TIME ZONE,
	ending VARCHAR,
	reason VARCHAR,
	PRIMARY KEY (id),
	FOREIGN KEY(campaign_id) REFERENCES campaign (id),
	FOREIGN KEY(approval_id) REFERENCES approval (id)
);
CREATE INDEX ix_run_campaign_id ON run (campaign_id);
CREATE TABLE attempt (
	id SERIAL NOT NULL,
	campaign_id INTEGER NOT NULL,
	candidate_row INTEGER,
	generation INTEGER NOT NULL,
	operation VARCHAR NOT NULL,
	rows INTEGER NOT NULL,
	carried VARCHAR,
	state VARCHAR NOT NULL,
	run_id INTEGER NOT NULL,
	claimed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	ended_at TIMESTAMP WITH TIME ZONE,
	phase INTEGER,
	status INTEGER,
	evidence VARCHAR,
	answer VARCHAR,
	PRIMARY KEY (id),
	FOREIGN KEY(campaign_id) REFERENCES campaign (id),
	FOREIGN KEY(candidate_row) REFERENCES candidate (id),
	FOREIGN KEY(run_id) REFERENCES run (id)
);
CREATE UNIQUE INDEX one_invitation ON attempt (candidate_row, generation) WHERE operation = 'invite' AND state IN ('sending', 'done', 'unsure');
CREATE UNIQUE INDEX one_project_one_problem ON attempt (campaign_id, operation) WHERE operation IN ('create_project', 'attach_problem') AND state IN ('sending', 'done', 'unsure');
CREATE INDEX still_sending ON attempt (run_id) WHERE state = 'sending';
CREATE TABLE decision (
	id SERIAL NOT NULL,
	campaign_id INTEGER,
	attempt_id INTEGER,
	candidate_row INTEGER,
	verdict VARCHAR NOT NULL,
	value VARCHAR,
	who VARCHAR NOT NULL,
	why VARCHAR NOT NULL,
	decided_at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(campaign_id) REFERENCES campaign (id),
	FOREIGN KEY(attempt_id) REFERENCES attempt (id),
	FOREIGN KEY(candidate_row) REFERENCES candidate (id)
);
CREATE INDEX ix_decision_campaign_id ON decision (campaign_id);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL,
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES
('0011');
INSERT INTO "approval" VALUES
(1, 'backend-2026', '9cee3e0b758d76b51b1e47ef640d07c9f9efecbebcbd0d61221329f87e0d463a', 'caf4e156c04360449d98e34d928b4e9c02e49677251e5a8a139ae88af08ae45f', 'http://127.0.0.1:8700', '/home/rita/hiring/hiring.yaml', NULL, NULL, 'project: create "Backend engineer"
problem: add 42
add: 7 to the project
invite: 7 by email
people: A*** L*** (a***@e***.com), Z*** M*** (Z***@E***.com), G*** H*** (g***@e***.com), A*** T*** (a***@e***.com), T*** B*** (t***@e***.com), R*** P*** (r***@e***.com), E*** D*** (e***@e***.com)
when: with the first run after the approval
rate: at most 360,000 an hour', '', NULL, '2026-11-26 16:07:39.236751+00:00'::timestamptz, NULL, 'approved', 'rita', 'asked by phone', '2026-11-26 16:07:39.304639+00:00'::timestamptz),
(2, 'backend-2026', 'd465bcbef0f2c9b7cba2e3d4a93c87d32ce75188f74d8fb3498078f37b2df360', 'caf4e156c04360449d98e34d928b4e9c02e49677251e5a8a139ae88af08ae45f', 'http://127.0.0.1:8700', '/home/rita/hiring/hiring.yaml', NULL, NULL, 'project: 101, as it is
problem: nothing to do
add: 1 to the project
invite: 2 by email
people: T*** B*** (t***@e***.com), R*** P*** (r***@e***.com)
when: with the first run after the approval
rate: at most 360,000 an hour', '', NULL, '2026-11-26 16:07:39.828670+00:00'::timestamptz, NULL, 'approved', 'rita', 'asked by phone', '2026-11-26 16:07:39.896126+00:00'::timestamptz);
INSERT INTO "campaign" VALUES
(1, 'backend-2026', 'http://127.0.0.1:8700', 'http://127.0.0.1:8700', '/home/rita/hiring/hiring.yaml', NULL, NULL, 'caf4e156c04360449d98e34d928b4e9c02e49677251e5a8a139ae88af08ae45f', 'Backend engineer', '', 'open', '', '', true, true, NULL, NULL, false, 'status', '{"window":null,"hours":null,"gap":"PT0.01S","latest":null,"advised":null,"pilot":null,"waves":null,"hold_on":null}', NULL, 'done', 1, 101, 'done', 2, 42, NULL, NULL, '2026-11-26 16:07:39.981031+00:00'::timestamptz, NULL, 8, '2026-11-26 16:07:39.242009+00:00'::timestamptz);
INSERT INTO "do_not_contact" VALUES
(1, 'eve@example.com', '8d6042415b4d366359a9adcc263e0483', 'eve@example.com', '', 'rita', 'asked never to be written to', '2026-11-26 16:07:38.613316+00:00'::timestamptz, NULL, NULL, NULL);
INSERT INTO "forgotten" VALUES
(1, 'b1b24b119f2b609b8cfed446e20c444867e1a5c80ed35e70983bf697f7c7f148', '43f418e95a401c9f54ca576c0759fffbe2fbd3cf2f24ee9a4a39987ea86cf384', 'rita', 'asked by mail', '2026-11-26 16:07:40.202926+00:00'::timestamptz);
INSERT INTO "inbox" VALUES
(1, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'backend-2026', 'autumn.yaml', 'completed', '2026-11-26 16:07:40.297518+00:00'::timestamptz);
INSERT INTO "inbox_place" VALUES
(1, '/home/rita/hiring/autumn.yaml', '', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'),
(2, '/home/rita/hiring', 'backend-2026', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa');
INSERT INTO "ledger" VALUES
(1, 'dae9f68d-f007-48d6-8f74-2fcccf4f9080', 'bcb3b0ac1dbf43c26193aafd8ae22f3a0d2905ca3ceca44e5ca2180c0a175548', '2026-11-26 16:07:38.611790+00:00'::timestamptz, 'open', NULL, 'eaa84cae-2d96-4326-bc93-1c7f82467041');
INSERT INTO "notice" VALUES
(1, 'a run', 'NeedsAttention', 'backend-2026: NeedsAttention.', '2026-11-26 16:07:40.289886+00:00'::timestamptz, NULL);
INSERT INTO "pace" VALUES
(1, 'campaign backend-2026', '2026-11-26 16:07:40.287856+00:00'::timestamptz, NULL, 0.0);
INSERT INTO "pause" VALUES
(1, 'backend-2026', 'rita', 'until Monday', '2026-11-26 16:07:40.145510+00:00'::timestamptz, '2026-11-26 16:07:40.180766+00:00'::timestamptz, 'rita', 'it is Monday'),
(2, 'backend-2026', 'mia', 'until Tuesday', '2026-11-26 16:07:40.163955+00:00'::timestamptz, '2026-11-26 16:07:40.180766+00:00'::timestamptz, 'rita', 'it is Monday');
INSERT INTO "receipt_doubt" VALUES
(1, 'backend-2026', 'hiring.receipt', 'a receipt of another ledger', '2026-11-26 16:07:40.286805+00:00'::timestamptz, NULL, NULL, NULL, NULL, NULL);
INSERT INTO "candidate" VALUES
(1, 1, 'ada@example.com', '25244d0e2817fc7a370a42f46e5dd258', 'Ada', 'Lovelace', 'ada@example.com', '', '', 1, NULL, true, 5001, 'done', 3, 'done', 4, 1, 0, 0, NULL, NULL),
(2, 1, 'zoe@example.com', '6280607c1ba67d82ccd5ae693da8acc7', 'Zoë', 'Müller', 'Zoe@Example.com', '', '', 1, NULL, true, 5002, 'done', 3, 'done', 5, 1, 0, 0, NULL, NULL),
(3, 1, 'grace@example.com', '615323f2f02cd799b8d98d32def66079', 'Grace', 'Hopper', 'grace@example.com', '', '', 1, NULL, true, 5003, 'done', 3, 'refused', 6, 1, 0, 0, NULL, 'The service refused the invitation (status 422); nothing happened.'),
(4, 1, 'alan@example.com', '2de8a97b15544ac5471b4674a9923ea3', 'Alan', 'Turing', 'alan@example.com', '',  E'''quoted'', \\ and ü', 1, NULL, true, 5004, 'done', 3, 'done', 7, 1, 0, 0, NULL, NULL),
(5, 1, 'tim@example.com', '78cefe3754014360f60bee15b526c096', 'Tim', 'Berners-Lee', 'tim@example.com', '', '', 1, NULL, true, 5005, 'done', 3, 'unsure', 12, 2, 10, 0, NULL, 'The request was sent, but no answer came back: the invitation may have been sent.'),
(6, 1, 'radia@exmaple.com', 'c7873e2376ba29454711d97d9b950474', 'Radia', 'Perlman', 'radia@exmaple.com', '', '', 1, NULL, false, 5006, 'done', 3, 'withdrawn', 9, 1, 0, 0, 8, 'corrected to radia@example.com by rita: a typo'),
(7, 1, 'forgotten:b1b24b119f2b609b8cfed446e20c444867e1a5c80ed35e70983bf697f7c7f148', '', '', '', '[forgotten]', '', '', 1, NULL, false, NULL, 'done', 3, 'done', 10, 1, 0, 0, NULL, NULL),
(8, 1, 'radia@example.com', '8c03f9a6aec7daeedbba96466853273d', 'Radia', 'Perlman', 'radia@example.com', '', '', 1, NULL, true, 5008, 'done', 11, 'done', 13, 1, 0, 0, NULL, NULL);
INSERT INTO "reading" VALUES
(1, 1, '/home/rita/hiring/hiring.yaml', 'caf4e156c04360449d98e34d928b4e9c02e49677251e5a8a139ae88af08ae45f', '2026-11-26 16:07:39.242009+00:00'::timestamptz);
INSERT INTO "run" VALUES
(1, 1, 'vm', 29408, '5a220445/7332001', '2026-11-26 16:07:39.362547+00:00'::timestamptz, '2026-11-26 16:07:39.362553+00:00'::timestamptz, 1, '2026-11-26 16:07:39.534463+00:00'::timestamptz, 'needs_attention', NULL),
(2, 1, 'vm', 29408, '5a220445/7332001', '2026-11-26 16:07:39.972107+00:00'::timestamptz, '2026-11-26 16:07:39.972114+00:00'::timestamptz, 2, '2026-11-26 16:07:40.086168+00:00'::timestamptz, 'needs_attention', NULL);
INSERT INTO "attempt" VALUES
(1, 1, NULL, 1, 'create_project', 1, NULL, 'done', 1, '2026-11-26 16:07:39.376630+00:00'::timestamptz, '2026-11-26 16:07:39.384639+00:00'::timestamptz, 3, 201, NULL, NULL),
(2, 1, NULL, 1, 'attach_problem', 1, NULL, 'done', 1, '2026-11-26 16:07:39.390455+00:00'::timestamptz, '2026-11-26 16:07:39.395896+00:00'::timestamptz, 3, 200, NULL, NULL),
(3, 1, NULL, 1, 'add_candidates', 7, '1-7', 'done', 1, '2026-11-26 16:07:39.411658+00:00'::timestamptz, '2026-11-26 16:07:39.423030+00:00'::timestamptz, 3, 201, NULL, ''),
(4, 1, 1, 1, 'invite', 1, NULL, 'done', 1, '2026-11-26 16:07:39.447287+00:00'::timestamptz, '2026-11-26 16:07:39.457074+00:00'::timestamptz, 3, 200, NULL, NULL),
(5, 1, 2, 1, 'invite', 1, NULL, 'done', 1, '2026-11-26 16:07:39.457288+00:00'::timestamptz, '2026-11-26 16:07:39.467096+00:00'::timestamptz, 2, NULL, 'The request was sent, but no answer came back: the invitation may have been sent. [RemoteProtocolError]', NULL),
(6, 1, 3, 1, 'invite', 1, NULL, 'refused', 1, '2026-11-26 16:07:39.471869+00:00'::timestamptz, '2026-11-26 16:07:39.480533+00:00'::timestamptz, 3, 422, 'The service refused the invitation (status 422); nothing happened.', 'as asked for'),
(7, 1, 4, 1, 'invite', 1, NULL, 'done', 1, '2026-11-26 16:07:39.481115+00:00'::timestamptz, '2026-11-26 16:07:39.489296+00:00'::timestamptz, 3, 200, NULL, NULL),
(8, 1, 5, 1, 'invite', 1, NULL, 'done', 1, '2026-11-26 16:07:39.489576+00:00'::timestamptz, '2026-11-26 16:07:39.496111+00:00'::timestamptz, 3, 200, NULL, NULL),
(9, 1, 6, 1, 'invite', 1, NULL, 'done', 1, '2026-11-26 16:07:39.497936+00:00'::timestamptz, '2026-11-26 16:07:39.504336+00:00'::timestamptz, 3, 200, NULL, NULL),
(10, 1, 7, 1, 'invite', 1, NULL, 'done', 1, '2026-11-26 16:07:39.507662+00:00'::timestamptz, '2026-11-26 16:07:39.514368+00:00'::timestamptz, 3, 200, NULL, ''),
(11, 1, NULL, 1, 'add_candidates', 1, '8', 'done', 2, '2026-11-26 16:07:39.999085+00:00'::timestamptz, '2026-11-26 16:07:40.009402+00:00'::timestamptz, 3, 201, NULL, NULL),
(12, 1, 5, 2, 'invite', 1, NULL, 'unsure', 2, '2026-11-26 16:07:40.039741+00:00'::timestamptz, '2026-11-26 16:07:40.044310+00:00'::timestamptz, 2, NULL, 'The request was sent, but no answer came back: the invitation may have been sent. [RemoteProtocolError]', NULL),
(13, 1, 8, 1, 'invite', 1, NULL, 'done', 2, '2026-11-26 16:07:40.053414+00:00'::timestamptz, '2026-11-26 16:07:40.060834+00:00'::timestamptz, 3, 200, NULL, NULL);
INSERT INTO "decision" VALUES
(1, 1, NULL, NULL, 'approved', '9cee3e0b758d76b51b1e47ef640d07c9f9efecbebcbd0d61221329f87e0d463a', 'rita', 'asked by phone', '2026-11-26 16:07:39.304639+00:00'::timestamptz),
(2, 1, 5, 2, 'sent', NULL, 'rita', 'asked by phone', '2026-11-26 16:07:39.605122+00:00'::timestamptz),
(3, 1, NULL, 6, 'correct', '8', 'rita', 'a typo', '2026-11-26 16:07:39.664813+00:00'::timestamptz),
(4, 1, 8, 5, 'resend', NULL, 'rita', 'he deleted it', '2026-11-26 16:07:39.745159+00:00'::timestamptz),
(5, 1, NULL, NULL, 'approved', 'd465bcbef0f2c9b7cba2e3d4a93c87d32ce75188f74d8fb3498078f37b2df360', 'rita', 'asked by phone', '2026-11-26 16:07:39.896126+00:00'::timestamptz);
SELECT setval('approval_id_seq', 3, False);
SELECT setval('attempt_id_seq', 14, False);
SELECT setval('campaign_id_seq', 2, False);
SELECT setval('candidate_id_seq', 9, False);
SELECT setval('decision_id_seq', 6, False);
SELECT setval('do_not_contact_id_seq', 2, False);
SELECT setval('forgotten_id_seq', 2, False);
SELECT setval('inbox_id_seq', 2, False);
SELECT setval('inbox_place_id_seq', 3, False);
SELECT setval('notice_id_seq', 2, False);
SELECT setval('pace_id_seq', 2, False);
SELECT setval('pause_id_seq', 3, False);
SELECT setval('reading_id_seq', 2, False);
SELECT setval('receipt_doubt_id_seq', 2, False);
SELECT setval('run_id_seq', 3, False);
