-- Times are microseconds since 1970 UTC. Indexes of delivery never hold a column that changes while a
-- mail is on its way, except due_at and flag, which an ordinary mail sets to null once.

create table meta (
    name text not null,
    value text not null,
    primary key (name)
) strict, without rowid;

create table id_block (
    name text not null,
    next integer not null,
    primary key (name)
) strict, without rowid;

create table scope (
    id integer not null primary key,
    name text not null,
    unique (name)
) strict;

create table batch (
    id integer not null primary key,
    name text not null,
    kind text not null,
    title text not null,
    scope integer not null,
    wanted text not null,
    loading integer,
    settings text not null,
    template_version integer not null,
    confirmed integer,
    scheduled_at integer,
    created_at integer not null,
    started_at integer,
    started_by text not null,
    paused_because text not null,
    paused_by text not null,
    paused_at integer,
    refused_early integer not null default 0,
    open_until integer,
    source text not null,
    rate text not null,
    connections integer,
    probed integer not null default 0,
    leave_unbuildable integer,
    first_row integer not null default 0,
    last_row integer not null default 0,
    unique (name)
) strict;

create table batch_template (
    batch integer not null,
    version integer not null,
    text text not null,
    html text,
    at integer not null,
    primary key (batch, version)
) strict, without rowid;

create table kind_pause (
    kind text not null,
    because text not null,
    by text not null,
    at integer not null,
    primary key (kind)
) strict, without rowid;

create table recipient (
    id integer not null primary key,
    scope integer not null,
    key text not null,
    address text not null,
    address_key text not null,
    fields text not null,
    unique (scope, key)
) strict;

create table left_out (
    id integer not null primary key,
    batch integer not null,
    source text not null,
    line integer not null,
    key text not null,
    address text not null,
    why text not null,
    value text not null,
    at integer not null
) strict;

create table delivery (
    id integer not null primary key,
    batch integer not null,
    state text not null,
    how text not null default '',
    flag text,
    cause text not null default '',
    attempt integer not null default 0,
    tries integer not null default 0,
    generation integer not null default 1,
    unknown_attempts integer not null default 0,
    handed_again integer not null default 0,
    first_started integer not null default 0,
    due_at integer,
    worker integer not null default 0,
    phase text not null default '',
    code integer not null default 0,
    enhanced text not null default '',
    updated integer not null
) strict;

create table attempt (
    row integer not null,
    number integer not null,
    worker integer not null,
    generation integer not null,
    started integer not null,
    ended integer not null,
    phase text not null,
    outcome text not null,
    cause text not null,
    blame text not null,
    code integer not null,
    enhanced text not null,
    reply blob not null,
    note text not null,
    review integer not null,
    template integer not null,
    primary key (row, number)
) strict, without rowid;

create table batch_count (
    batch integer not null,
    bucket text not null,
    slot integer not null,
    n integer not null,
    primary key (batch, bucket, slot)
) strict, without rowid;

create table worker (
    id integer not null primary key,
    host text not null,
    boot text not null,
    pid_ns text not null,
    pid integer not null,
    pid_start integer not null,
    state_dir text not null,
    kinds text not null,
    started_at integer not null,
    beat integer not null,
    beat_at integer not null,
    slot integer not null,
    lost_at integer,
    lost_how text not null,
    late_until integer,
    stop_at integer
) strict;

create table claim (
    id integer not null primary key,
    worker integer not null,
    batch integer not null,
    ids text not null,
    at integer not null
) strict;

create table evidence (
    id integer not null primary key,
    row integer not null,
    attempt integer not null,
    generation integer not null,
    worker integer not null,
    source text not null,
    outcome text not null,
    code integer not null,
    reply blob not null,
    at integer not null,
    became text not null
) strict;

create table endpoint (
    transport text not null,
    open_until integer not null,
    why text not null,
    failures integer not null,
    probe_worker integer not null,
    updated integer not null,
    primary key (transport)
) strict, without rowid;

create table pace (
    transport text not null,
    window_text text not null,
    window_start integer not null,
    used integer not null,
    primary key (transport)
) strict, without rowid;

create table lane (
    transport text not null,
    number integer not null,
    worker integer not null,
    since integer not null,
    primary key (transport, number)
) strict, without rowid;

create table journal (
    id integer not null primary key,
    at integer not null,
    operator text not null,
    action text not null,
    batch integer not null,
    reason text not null,
    selection text not null,
    matched integer not null,
    changed integer not null,
    details text not null
) strict;

create table journal_row (
    journal integer not null,
    row integer not null,
    state text not null,
    how text not null,
    flag text,
    cause text not null,
    generation integer not null,
    due_at integer,
    address text not null,
    attempt integer not null,
    tries integer not null,
    unknown_attempts integer not null,
    handed_again integer not null,
    first_started integer not null,
    address_key text not null,
    updated_after integer not null,
    primary key (journal, row)
) strict, without rowid;

create table suppression (
    seq integer not null primary key,
    address_key text not null,
    kind text not null,
    reason text not null,
    at integer not null,
    operator text not null,
    unique (address_key, kind)
) strict;

create table rejects (
    id integer not null primary key,
    kind text not null,
    digest text not null,
    key text not null,
    payload blob not null,
    why text not null,
    times integer not null,
    first_at integer not null,
    last_at integer not null,
    unique (kind, digest)
) strict;

create index recipient_by_address on recipient (address_key);

create index left_out_by_batch on left_out (batch, id);

create index left_out_by_address on left_out (address);

create index left_out_by_key on left_out (key);

create index journal_row_by_row on journal_row (row);

create index delivery_due on delivery (batch, due_at, id) where due_at is not null;

create index delivery_flagged on delivery (batch, flag, id) where flag is not null;

create index claim_by_worker on claim (worker);

create index evidence_by_row on evidence (row);

create index journal_by_batch on journal (batch, id);

insert into id_block (name, next) values
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

create view progress as
select b.name as batch, b.kind as kind, b.wanted as wanted,
    cast(coalesce(sum(case when c.bucket = 'ready' then c.n end), 0) as integer) as ready,
    cast(coalesce(sum(case when c.bucket = 'sending' then c.n end), 0) as integer) as sending,
    cast(coalesce(sum(case when c.bucket = 'unknown' then c.n end), 0) as integer) as unknown,
    cast(coalesce(sum(case when c.bucket = 'sent' then c.n end), 0) as integer) as sent,
    cast(coalesce(sum(case when c.bucket = 'assumed' then c.n end), 0) as integer) as assumed,
    cast(coalesce(sum(case when c.bucket = 'failed' then c.n end), 0) as integer) as failed
from batch b left join batch_count c on c.batch = b.id
group by b.id, b.name, b.kind, b.wanted;

create view mail as
select d.id as id, b.name as batch, r.key as key, r.address as address, d.state as state, d.how as how, d.flag as flag,
    d.attempt as attempt, d.tries as tries, d.generation as generation, d.worker as worker,
    d.phase as phase, d.code as code, d.enhanced as enhanced,
    case when d.first_started > 0 then strftime('%Y-%m-%d %H:%M:%f', d.first_started / 1000000.0, 'unixepoch') end as first_started,
    strftime('%Y-%m-%d %H:%M:%f', d.due_at / 1000000.0, 'unixepoch') as due_at,
    strftime('%Y-%m-%d %H:%M:%f', d.updated / 1000000.0, 'unixepoch') as updated
from delivery d join recipient r on r.id = d.id join batch b on b.id = d.batch;
