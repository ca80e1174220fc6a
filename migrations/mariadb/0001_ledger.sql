-- Times are microseconds since 1970 UTC. Every statement may be run again: a change of shape commits
-- by itself here. The words of delivery have one byte a letter and a fixed width, so that no row grows.

create table if not exists meta (
    name varchar(64) not null,
    value text not null,
    primary key (name)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists id_block (
    name varchar(64) not null,
    next bigint not null,
    primary key (name)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists scope (
    id bigint not null,
    name varchar(190) not null,
    primary key (id),
    unique (name)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists batch (
    id bigint not null,
    name varchar(64) not null,
    kind varchar(64) not null,
    title text not null,
    scope bigint not null,
    wanted varchar(16) not null,
    loading bigint,
    settings longtext not null,
    template_version bigint not null,
    confirmed bigint,
    scheduled_at bigint,
    created_at bigint not null,
    started_at bigint,
    started_by text not null,
    paused_because text not null,
    paused_by text not null,
    paused_at bigint,
    refused_early bigint not null default 0,
    open_until bigint,
    source text not null,
    rate varchar(64) not null,
    connections bigint,
    probed bigint not null default 0,
    leave_unbuildable bigint,
    first_row bigint not null default 0,
    last_row bigint not null default 0,
    primary key (id),
    unique (name)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists batch_template (
    batch bigint not null,
    version bigint not null,
    text longtext not null,
    html longtext,
    at bigint not null,
    primary key (batch, version)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists kind_pause (
    kind varchar(64) not null,
    because text not null,
    `by` text not null,
    at bigint not null,
    primary key (kind)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists recipient (
    id bigint not null,
    scope bigint not null,
    `key` varchar(190) not null,
    address varchar(320) not null,
    address_key varchar(320) not null,
    fields longtext not null,
    primary key (id),
    unique (scope, `key`)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists left_out (
    id bigint not null,
    batch bigint not null,
    source text not null,
    line bigint not null,
    `key` varchar(190) not null,
    address text not null,
    why text not null,
    value text not null,
    at bigint not null,
    primary key (id)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists delivery (
    id bigint not null,
    batch bigint not null,
    state char(7) character set latin1 collate latin1_bin not null,
    how char(11) character set latin1 collate latin1_bin not null default '',
    flag char(7) character set latin1 collate latin1_bin,
    cause char(12) character set latin1 collate latin1_bin not null default '',
    attempt bigint not null default 0,
    tries bigint not null default 0,
    generation bigint not null default 1,
    unknown_attempts bigint not null default 0,
    handed_again bigint not null default 0,
    first_started bigint not null default 0,
    due_at bigint,
    worker bigint not null default 0,
    phase char(8) character set latin1 collate latin1_bin not null default '',
    code bigint not null default 0,
    enhanced char(11) character set latin1 collate latin1_bin not null default '',
    updated bigint not null,
    primary key (id)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists attempt (
    `row` bigint not null,
    number bigint not null,
    worker bigint not null,
    generation bigint not null,
    started bigint not null,
    ended bigint not null,
    phase varchar(16) not null,
    outcome varchar(16) not null,
    cause varchar(16) not null,
    blame varchar(16) not null,
    code bigint not null,
    enhanced varchar(16) not null,
    reply mediumblob not null,
    note text not null,
    review bigint not null,
    template bigint not null,
    primary key (`row`, number)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists batch_count (
    batch bigint not null,
    bucket varchar(16) not null,
    slot bigint not null,
    n bigint not null,
    primary key (batch, bucket, slot)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists worker (
    id bigint not null,
    host text not null,
    boot text not null,
    pid_ns text not null,
    pid bigint not null,
    pid_start bigint not null,
    state_dir text not null,
    kinds text not null,
    started_at bigint not null,
    beat bigint not null,
    beat_at bigint not null,
    slot bigint not null,
    lost_at bigint,
    lost_how varchar(16) not null,
    late_until bigint,
    stop_at bigint,
    primary key (id)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists claim (
    id bigint not null,
    worker bigint not null,
    batch bigint not null,
    ids longtext not null,
    at bigint not null,
    primary key (id)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists evidence (
    id bigint not null,
    `row` bigint not null,
    attempt bigint not null,
    generation bigint not null,
    worker bigint not null,
    source varchar(16) not null,
    outcome varchar(16) not null,
    code bigint not null,
    reply mediumblob not null,
    at bigint not null,
    became varchar(16) not null,
    primary key (id)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists endpoint (
    transport varchar(64) not null,
    open_until bigint not null,
    why text not null,
    failures bigint not null,
    probe_worker bigint not null,
    updated bigint not null,
    primary key (transport)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists pace (
    transport varchar(64) not null,
    window_text varchar(64) not null,
    window_start bigint not null,
    used bigint not null,
    primary key (transport)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists lane (
    transport varchar(64) not null,
    number bigint not null,
    worker bigint not null,
    since bigint not null,
    primary key (transport, number)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists journal (
    id bigint not null,
    at bigint not null,
    operator text not null,
    action varchar(64) not null,
    batch bigint not null,
    reason text not null,
    selection text not null,
    matched bigint not null,
    changed bigint not null,
    details longtext not null,
    primary key (id)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists journal_row (
    journal bigint not null,
    `row` bigint not null,
    state varchar(16) not null,
    how varchar(16) not null,
    flag varchar(16),
    cause varchar(16) not null,
    generation bigint not null,
    due_at bigint,
    address text not null,
    attempt bigint not null,
    tries bigint not null,
    unknown_attempts bigint not null,
    handed_again bigint not null,
    first_started bigint not null,
    address_key text not null,
    updated_after bigint not null,
    primary key (journal, `row`)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists suppression (
    seq bigint not null,
    address_key varchar(320) not null,
    kind varchar(64) not null,
    reason text not null,
    at bigint not null,
    operator text not null,
    primary key (seq),
    unique (address_key, kind)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create table if not exists rejects (
    id bigint not null,
    kind varchar(64) not null,
    digest varchar(64) not null,
    `key` varchar(190) not null,
    payload mediumblob not null,
    why text not null,
    times bigint not null,
    first_at bigint not null,
    last_at bigint not null,
    primary key (id),
    unique (kind, digest)
) engine = innodb, character set utf8mb4, collate utf8mb4_nopad_bin;

create index if not exists recipient_by_address on recipient (address_key);

create index if not exists left_out_by_batch on left_out (batch, id);

create index if not exists left_out_by_address on left_out (address(190));

create index if not exists left_out_by_key on left_out (`key`);

create index if not exists journal_row_by_row on journal_row (`row`);

create index if not exists delivery_due on delivery (batch, due_at, id);

create index if not exists delivery_flagged on delivery (batch, flag, id);

create index if not exists claim_by_worker on claim (worker);

create index if not exists evidence_by_row on evidence (`row`);

create index if not exists journal_by_batch on journal (batch, id);

insert ignore into id_block (name, next) values
    ('batch', 1),
    ('claim', 1),
    ('evidence', 1),
    ('journal', 1),
    ('left_out', 1),
    ('recipient', 1),
    ('rejects', 1),
    ('scope', 1),
    ('suppression', 1),
    ('worker', 1);

create or replace view progress as
select b.name as batch, b.kind as kind, b.wanted as wanted,
    cast(coalesce(sum(case when c.bucket = 'ready' then c.n end), 0) as signed) as ready,
    cast(coalesce(sum(case when c.bucket = 'sending' then c.n end), 0) as signed) as sending,
    cast(coalesce(sum(case when c.bucket = 'unknown' then c.n end), 0) as signed) as unknown,
    cast(coalesce(sum(case when c.bucket = 'sent' then c.n end), 0) as signed) as sent,
    cast(coalesce(sum(case when c.bucket = 'assumed' then c.n end), 0) as signed) as assumed,
    cast(coalesce(sum(case when c.bucket = 'failed' then c.n end), 0) as signed) as failed
from batch b left join batch_count c on c.batch = b.id
group by b.id, b.name, b.kind, b.wanted;

create or replace view mail as
select d.id as id, b.name as batch, r.`key` as `key`, r.address as address, d.state as state, d.how as how, d.flag as flag,
    d.attempt as attempt, d.tries as tries, d.generation as generation, d.worker as worker,
    d.phase as phase, d.code as code, d.enhanced as enhanced,
    case when d.first_started > 0 then timestamp '1970-01-01 00:00:00' + interval d.first_started microsecond end as first_started,
    timestamp '1970-01-01 00:00:00' + interval d.due_at microsecond as due_at,
    timestamp '1970-01-01 00:00:00' + interval d.updated microsecond as updated
from delivery d join recipient r on r.id = d.id join batch b on b.id = d.batch;
