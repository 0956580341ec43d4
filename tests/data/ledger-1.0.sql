BEGIN TRANSACTION;
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE campaign (
  id INTEGER NOT NULL, 
  "key" VARCHAR NOT NULL, 
  service VARCHAR NOT NULL, 
  account VARCHAR NOT NULL, 
  app_url VARCHAR NOT NULL, 
  file VARCHAR NOT NULL, 
  digest VARCHAR NOT NULL, 
  spec JSON, 
  mark INTEGER NOT NULL, 
  created_at DATETIME NOT NULL, 
  PRIMARY KEY (id), 
  UNIQUE ("key")
);
INSERT INTO "campaign" VALUES(1,'backend','HTTPS://Service.invalid:0443/.','56c16e0e6de0daf9','https://service.invalid','/srv/hiring/backend.yaml','e3e82babf9740da3b3e5ad02de0b59df964e6829daf312766ecb1b2d8ba2d621','{"campaign": "backend", "project": {"id": null, "timezone": null, "name": "Backend", "description": "", "state": "open", "starttime": null, "endtime": null}, "problem": {"id": 42, "title": null}, "stage_id": 1, "invites": {"send": true, "approval": null, "timezone": null, "not_before": null, "not_after": null, "hours": null, "holidays": [], "per_hour": null, "pilot": null, "waves": [], "between": null}, "guard": {"removed": 0.2}, "schedule": null}',0,'2026-11-28 12:58:47.764229');
CREATE TABLE decision (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
  at DATETIME NOT NULL, 
  who VARCHAR NOT NULL, 
  why VARCHAR, 
  word VARCHAR NOT NULL, 
  campaign_id INTEGER, 
  person_id INTEGER, 
  part_id INTEGER, 
  value JSON
);
INSERT INTO "decision" VALUES(1,'2026-11-28 12:58:47.856703','mara','because','withdraw',1,4,6,NULL);
INSERT INTO "decision" VALUES(2,'2026-11-28 12:58:47.860697','mara','because','correct',1,5,NULL,9);
INSERT INTO "decision" VALUES(3,'2026-11-28 12:58:47.874790','mara','because','forget',1,6,NULL,NULL);
INSERT INTO "decision" VALUES(4,'2026-11-28 12:58:47.878965','mara','because','block',NULL,NULL,NULL,1);
INSERT INTO "decision" VALUES(5,'2026-11-28 12:58:47.879157','mara','because','block',NULL,NULL,NULL,2);
CREATE TABLE do_not_contact (
  id INTEGER NOT NULL, 
  email_key VARCHAR NOT NULL, 
  kind VARCHAR NOT NULL, 
  listed_by VARCHAR NOT NULL, 
  at DATETIME NOT NULL, 
  PRIMARY KEY (id), 
  UNIQUE (email_key)
);
INSERT INTO "do_not_contact" VALUES(1,'blocked@x.org','address','person','2026-11-28 12:58:47.877804');
INSERT INTO "do_not_contact" VALUES(2,'corp.org','domain','person','2026-11-28 12:58:47.877804');
CREATE TABLE forgotten (
  id INTEGER NOT NULL, 
  digest VARCHAR NOT NULL, 
  mailbox_digest VARCHAR NOT NULL, 
  at DATETIME NOT NULL, 
  PRIMARY KEY (id), 
  UNIQUE (digest)
);
INSERT INTO "forgotten" VALUES(1,'8b6ba956b9993e6dc3c4a901a3b60ae6d294b6592af704de7f22dd725209ede1','8b6ba956b9993e6dc3c4a901a3b60ae6d294b6592af704de7f22dd725209ede1','2026-11-28 12:58:47.871599');
CREATE TABLE ledger (
  uuid VARCHAR NOT NULL, 
  PRIMARY KEY (uuid)
);
INSERT INTO "ledger" VALUES('06023724-1257-4035-ac3d-7e7a95e9bc2a');
CREATE TABLE notice (
  "key" VARCHAR NOT NULL, 
  text VARCHAR NOT NULL, 
  told DATETIME, 
  PRIMARY KEY ("key")
);
CREATE TABLE pace (
  service VARCHAR NOT NULL, 
  account VARCHAR NOT NULL, 
  paused_until DATETIME, 
  PRIMARY KEY (service, account)
);
CREATE TABLE part (
  id INTEGER NOT NULL, 
  request_id INTEGER NOT NULL, 
  step_id INTEGER NOT NULL, 
  generation INTEGER NOT NULL, 
  state VARCHAR(16) NOT NULL, 
  said_yes BOOLEAN NOT NULL, 
  service_id BIGINT, 
  PRIMARY KEY (id), 
  FOREIGN KEY(request_id) REFERENCES request (id), 
  FOREIGN KEY(step_id) REFERENCES step (id)
);
INSERT INTO "part" VALUES(1,1,1,1,'done',0,101);
INSERT INTO "part" VALUES(2,2,2,1,'done',0,NULL);
INSERT INTO "part" VALUES(3,3,3,1,'done',0,5001);
INSERT INTO "part" VALUES(4,3,4,1,'done',0,5002);
INSERT INTO "part" VALUES(5,3,5,1,'done',0,5003);
INSERT INTO "part" VALUES(6,3,6,1,'done',0,5004);
INSERT INTO "part" VALUES(7,3,7,1,'done',0,5005);
INSERT INTO "part" VALUES(8,3,8,1,'done',0,NULL);
INSERT INTO "part" VALUES(9,3,9,1,'done',0,5007);
INSERT INTO "part" VALUES(10,3,10,1,'done',0,5008);
INSERT INTO "part" VALUES(11,4,11,1,'done',0,NULL);
INSERT INTO "part" VALUES(12,5,12,1,'unsure',0,NULL);
INSERT INTO "part" VALUES(13,6,13,1,'refused',0,NULL);
INSERT INTO "part" VALUES(14,7,18,1,'sending',0,NULL);
CREATE TABLE person (
  id INTEGER NOT NULL, 
  campaign_id INTEGER NOT NULL, 
  email_key VARCHAR NOT NULL, 
  mailbox VARCHAR NOT NULL, 
  email1 VARCHAR NOT NULL, 
  fields JSON, 
  listed BOOLEAN NOT NULL, 
  became INTEGER, 
  let_through JSON, 
  PRIMARY KEY (id), 
  UNIQUE (campaign_id, email_key), 
  FOREIGN KEY(campaign_id) REFERENCES campaign (id)
);
INSERT INTO "person" VALUES(1,1,'ada@x.org','ada@x.org','ada@x.org','{"first_name": "Ada", "last_name": "Of X", "email1": "ada@x.org", "source": "", "notes": "", "stage_id": 1}',0,NULL,NULL);
INSERT INTO "person" VALUES(2,1,'ben@x.org','ben@x.org','ben@x.org','{"first_name": "Ben", "last_name": "Of X", "email1": "ben@x.org", "source": "", "notes": "", "stage_id": 1}',1,NULL,NULL);
INSERT INTO "person" VALUES(3,1,'cyd@x.org','cyd@x.org','cyd@x.org','{"first_name": "Cyd", "last_name": "Of X", "email1": "cyd@x.org", "source": "", "notes": "", "stage_id": 1}',1,NULL,NULL);
INSERT INTO "person" VALUES(4,1,'dov@x.org','dov@x.org','dov@x.org','{"first_name": "Dov", "last_name": "Of X", "email1": "dov@x.org", "source": "", "notes": "", "stage_id": 1}',1,NULL,NULL);
INSERT INTO "person" VALUES(5,1,'eve@x.org','eve@x.org','eve@x.org','{"first_name": "Eve", "last_name": "Of X", "email1": "eve@x.org", "source": "", "notes": "", "stage_id": 1}',1,9,NULL);
INSERT INTO "person" VALUES(6,1,'forgotten:8b6ba956b9993e6dc3c4a901a3b60ae6d294b6592af704de7f22dd725209ede1','','','{}',0,NULL,NULL);
INSERT INTO "person" VALUES(7,1,'gus@x.org','gus@x.org','gus@x.org','{"first_name": "Gus", "last_name": "Of X", "email1": "gus@x.org", "source": "", "notes": "", "stage_id": 1}',1,NULL,NULL);
INSERT INTO "person" VALUES(8,1,'hal@x.org','hal@x.org','hal@x.org','{"first_name": "Hal", "last_name": "Of X", "email1": "hal@x.org", "source": "", "notes": "", "stage_id": 1}',1,NULL,NULL);
INSERT INTO "person" VALUES(9,1,'eve@new.org','eve@new.org','eve@new.org','{"first_name": "Eve", "last_name": "Of X", "email1": "eve@new.org", "source": "", "notes": "", "stage_id": 1}',1,NULL,NULL);
CREATE TABLE request (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
  run_id INTEGER NOT NULL, 
  op VARCHAR(16) NOT NULL, 
  claimed_at DATETIME NOT NULL, 
  ended_at DATETIME, 
  phase INTEGER, 
  status INTEGER, 
  evidence VARCHAR, 
  answer VARCHAR, 
  FOREIGN KEY(run_id) REFERENCES run (id)
);
INSERT INTO "request" VALUES(1,1,'create','2026-11-28 12:58:47.799550','2026-11-28 12:58:47.802558',6,200,NULL,NULL);
INSERT INTO "request" VALUES(2,1,'attach','2026-11-28 12:58:47.813613','2026-11-28 12:58:47.815227',6,200,NULL,NULL);
INSERT INTO "request" VALUES(3,1,'add','2026-11-28 12:58:47.826483','2026-11-28 12:58:47.828289',6,200,NULL,NULL);
INSERT INTO "request" VALUES(4,1,'invite','2026-11-28 12:58:47.840021','2026-11-28 12:58:47.841492',6,200,NULL,NULL);
INSERT INTO "request" VALUES(5,1,'invite','2026-11-28 12:58:47.846722','2026-11-28 12:58:47.847993',6,200,NULL,NULL);
INSERT INTO "request" VALUES(6,1,'invite','2026-11-28 12:58:47.852754','2026-11-28 12:58:47.853800',6,200,NULL,NULL);
INSERT INTO "request" VALUES(7,1,'invite','2026-11-28 12:58:47.888668',NULL,NULL,NULL,NULL,NULL);
CREATE TABLE run (
  id INTEGER NOT NULL, 
  campaign_id INTEGER NOT NULL, 
  host VARCHAR NOT NULL, 
  pid INTEGER NOT NULL, 
  began DATETIME NOT NULL, 
  ended DATETIME, 
  ending VARCHAR, 
  PRIMARY KEY (id), 
  FOREIGN KEY(campaign_id) REFERENCES campaign (id)
);
INSERT INTO "run" VALUES(1,1,'here',1,'2026-11-28 12:58:47.792105',NULL,NULL);
CREATE TABLE seen_file (
  path VARCHAR NOT NULL, 
  trace VARCHAR NOT NULL, 
  at DATETIME NOT NULL, 
  PRIMARY KEY (path)
);
ANALYZE "sqlite_master";
INSERT INTO "sqlite_stat1" VALUES('alembic_version',NULL,'1');
INSERT INTO "sqlite_stat1" VALUES('ledger','sqlite_autoindex_ledger_1','1 1');
INSERT INTO "sqlite_stat1" VALUES('person','sqlite_autoindex_person_1','100000 20000 1');
INSERT INTO "sqlite_stat1" VALUES('person','person_by_email_key','100000 2');
INSERT INTO "sqlite_stat1" VALUES('person','person_by_mailbox','100000 2');
INSERT INTO "sqlite_stat1" VALUES('step','sqlite_autoindex_step_1','200000 40000 2 1');
INSERT INTO "sqlite_stat1" VALUES('step','step_by_state','200000 40000 20000 5000');
INSERT INTO "sqlite_stat1" VALUES('step','step_by_service_id','200000 2');
INSERT INTO "sqlite_stat1" VALUES('part','one_of_each','200000 1 1');
INSERT INTO "sqlite_stat1" VALUES('part','part_by_step','200000 1');
INSERT INTO "sqlite_stat1" VALUES('part','part_by_request','200000 2');
CREATE TABLE step (
  id INTEGER NOT NULL, 
  campaign_id INTEGER NOT NULL, 
  person_id INTEGER NOT NULL, 
  op VARCHAR(16) NOT NULL, 
  state VARCHAR(16) NOT NULL, 
  generation INTEGER NOT NULL, 
  service_id BIGINT, 
  part_id INTEGER, 
  why VARCHAR, 
  PRIMARY KEY (id), 
  UNIQUE (campaign_id, person_id, op), 
  FOREIGN KEY(campaign_id) REFERENCES campaign (id)
);
INSERT INTO "step" VALUES(1,1,0,'create','done',1,101,1,NULL);
INSERT INTO "step" VALUES(2,1,0,'attach','done',1,42,2,NULL);
INSERT INTO "step" VALUES(3,1,1,'add','done',1,5001,3,NULL);
INSERT INTO "step" VALUES(4,1,2,'add','done',1,5002,4,NULL);
INSERT INTO "step" VALUES(5,1,3,'add','done',1,5003,5,NULL);
INSERT INTO "step" VALUES(6,1,4,'add','done',1,5004,6,NULL);
INSERT INTO "step" VALUES(7,1,5,'add','done',1,5005,7,NULL);
INSERT INTO "step" VALUES(8,1,6,'add','done',1,NULL,8,NULL);
INSERT INTO "step" VALUES(9,1,7,'add','done',1,5007,9,NULL);
INSERT INTO "step" VALUES(10,1,8,'add','done',1,5008,10,NULL);
INSERT INTO "step" VALUES(11,1,1,'invite','done',1,NULL,11,NULL);
INSERT INTO "step" VALUES(12,1,2,'invite','unsure',1,NULL,12,'It is not known.');
INSERT INTO "step" VALUES(13,1,3,'invite','refused',1,NULL,13,'The service refused.');
INSERT INTO "step" VALUES(14,1,4,'invite','given up',1,NULL,NULL,'withdrawn by mara: because');
INSERT INTO "step" VALUES(15,1,5,'invite','given up',1,NULL,NULL,'corrected by mara: because');
INSERT INTO "step" VALUES(16,1,6,'invite','given up',1,NULL,NULL,NULL);
INSERT INTO "step" VALUES(17,1,7,'invite','waiting',1,NULL,NULL,NULL);
INSERT INTO "step" VALUES(18,1,8,'invite','sending',1,NULL,14,NULL);
INSERT INTO "step" VALUES(19,1,9,'add','waiting',1,NULL,NULL,NULL);
INSERT INTO "step" VALUES(20,1,9,'invite','waiting',1,NULL,NULL,NULL);
CREATE INDEX ix_decision_campaign_id ON decision (campaign_id);
CREATE INDEX ix_decision_person_id ON decision (person_id);
CREATE INDEX ix_forgotten_mailbox_digest ON forgotten (mailbox_digest);
CREATE INDEX person_gone ON person (campaign_id) WHERE listed = 0;
CREATE INDEX person_by_email_key ON person (email_key);
CREATE INDEX person_by_mailbox ON person (mailbox);
CREATE INDEX step_by_state ON step (campaign_id, op, state);
CREATE INDEX step_by_service_id ON step (service_id);
CREATE INDEX ix_run_campaign_id ON run (campaign_id);
CREATE INDEX ix_request_run_id ON request (run_id);
CREATE UNIQUE INDEX one_of_each ON part (step_id, generation) WHERE state IN ('sending', 'done', 'unsure');
CREATE INDEX part_by_step ON part (step_id);
CREATE INDEX part_by_request ON part (request_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('request',7);
INSERT INTO "sqlite_sequence" VALUES('decision',5);
COMMIT;
