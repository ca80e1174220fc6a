-- Times are microseconds since 1970 UTC. Indexes of delivery never hold a column that changes while a
-- mail is on its way, except due_at and flag; with half-empty pages its updates then stay in the page.

create table meta (
    name text collate "C" not null,
    value text collate "C" not null,
    primary key (name)
);

create table id_block (
    name text collate "C" not null,
    next bigint not null,
    primary key (name)
);

create table scope (
    id bigint not null,
    name text collate "C" not null,
    primary key (id),
    unique (name)
);

create table batch (
    id bigint not null,
    name text collate "C" not null,
    kind text collate "C" not null,
    title text collate "C" not null,
    scope bigint not null,
    wanted text collate "C" not null,
    loading bigint,
    settings text collate "C" not null,
    template_version bigint not null,
    confirmed bigint,
    scheduled_at bigint,
    created_at bigint not null,
    started_at bigint,
    started_by text collate "C" not null,
    paused_because text collate "C" not null,
    paused_by text collate "C" not null,
    paused_at bigint,
    refused_early bigint not null default 0,
    open_until bigint,
    source text collate "C" not null,
    rate text collate "C" not null,
    connections bigint,
    probed bigint not null default 0,
    leave_unbuildable bigint,
    first_row bigint not null default 0,
    last_row bigint not null default 0,
    primary key (id),
    unique (name)
);

create table batch_template (
    batch bigint not null,
    version bigint not null,
    text text collate "C" not null,
    html text collate "C",
    at bigint not null,
    primary key (batch, version)
);

create table kind_pause (
    kind text collate "C" not null,
    because text collate "C" not null,
    by text collate "C" not null,
    at bigint not null,
    primary key (kind)
);

create table recipient (
    id bigint not null,
    scope bigint not null,
    key text collate "C" not null,
    address text collate "C" not null,
    address_key text collate "C" not null,
    fields text collate "C" not null,
    primary key (id),
    unique (scope, key)
);

create table left_out (
    id bigint not null,
    batch bigint not null,
    source text collate "C" not null,
    line bigint not null,
    key text collate "C" not null,
    address text collate "C" not null,
    why text collate "C" not null,
    value text collate "C" not null,
    at bigint not null,
    primary key (id)
);

create table delivery (
    id bigint not null,
    batch bigint not null,
    state text collate "C" not null,
    how text collate "C" not null default '',
    flag text collate "C",
    cause text collate "C" not null default '',
    attempt bigint not null default 0,
    tries bigint not null default 0,
    generation bigint not null default 1,
    unknown_attempts bigint not null default 0,
    handed_again bigint not null default 0,
    first_started bigint not null default 0,
    due_at bigint,
    worker bigint not null default 0,
    phase text collate "C" not null default '',
    code bigint not null default 0,
    enhanced text collate "C" not null default '',
    updated bigint not null,
    primary key (id)
) with (fillfactor = 50);

create table attempt (
    row bigint not null,
    number bigint not null,
    worker bigint not null,
    generation bigint not null,
    started bigint not null,
    ended bigint not null,
    phase text collate "C" not null,
    outcome text collate "C" not null,
    cause text collate "C" not null,
    blame text collate "C" not null,
    code bigint not null,
    enhanced text collate "C" not null,
    reply bytea not null,
    note text collate "C" not null,
    review bigint not null,
    template bigint not null,
    primary key (row, number)
);

create table batch_count (
    batch bigint not null,
    bucket text collate "C" not null,
    slot bigint not null,
    n bigint not null,
    primary key (batch, bucket, slot)
) with (fillfactor = 50);

create table worker (
    id bigint not null,
    host text collate "C" not null,
    boot text collate "C" not null,
    pid_ns text collate "C" not null,
    pid bigint not null,
    pid_start bigint not null,
    state_dir text collate "C" not null,
    kinds text collate "C" not null,
    started_at bigint not null,
    beat bigint not null,
    beat_at bigint not null,
    slot bigint not null,
    lost_at bigint,
    lost_how text collate "C" not null,
    late_until bigint,
    stop_at bigint,
    primary key (id)
) with (fillfactor = 50);

create table claim (
    id bigint not null,
    worker bigint not null,
    batch bigint not null,
    ids text collate "C" not null,
    at bigint not null,
    primary key (id)
);

create table evidence (
    id bigint not null,
    row bigint not null,
    attempt bigint not null,
    generation bigint not null,
    worker bigint not null,
    source text collate "C" not null,
    outcome text collate "C" not null,
    code bigint not null,
    reply bytea not null,
    at bigint not null,
    became text collate "C" not null,
    primary key (id)
);

create table endpoint (
    transport text collate "C" not null,
    open_until bigint not null,
    why text collate "C" not null,
    failures bigint not null,
    probe_worker bigint not null,
    updated bigint not null,
    primary key (transport)
);

create table pace (
    transport text collate "C" not null,
    window_text text collate "C" not null,
    window_start bigint not null,
    used bigint not null,
    primary key (transport)
) with (fillfactor = 50);

create table lane (
    transport text collate "C" not null,
    number bigint not null,
    worker bigint not null,
    since bigint not null,
    primary key (transport, number)
) with (fillfactor = 50);

create table journal (
    id bigint not null,
    at bigint not null,
    operator text collate "C" not null,
    action text collate "C" not null,
    batch bigint not null,
    reason text collate "C" not null,
    selection text collate "C" not null,
    matched bigint not null,
    changed bigint not null,
    details text collate "C" not null,
    primary key (id)
);

create table journal_row (
    journal bigint not null,
    row bigint not null,
    state text collate "C" not null,
    how text collate "C" not null,
    flag text collate "C",
    cause text collate "C" not null,
    generation bigint not null,
    due_at bigint,
    address text collate "C" not null,
    attempt bigint not null,
    tries bigint not null,
    unknown_attempts bigint not null,
    handed_again bigint not null,
    first_started bigint not null,
    address_key text collate "C" not null,
    updated_after bigint not null,
    primary key (journal, row)
);

create table suppression (
    seq bigint not null,
    address_key text collate "C" not null,
    kind text collate "C" not null,
    reason text collate "C" not null,
    at bigint not null,
    operator text collate "C" not null,
    primary key (seq),
    unique (address_key, kind)
);

create table rejects (
    id bigint not null,
    kind text collate "C" not null,
    digest text collate "C" not null,
    key text collate "C" not null,
    payload bytea not null,
    why text collate "C" not null,
    times bigint not null,
    first_at bigint not null,
    last_at bigint not null,
    primary key (id),
    unique (kind, digest)
);

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

create or replace view progress as
select b.name as batch, b.kind as kind, b.wanted as wanted,
    cast(coalesce(sum(case when c.bucket = 'ready' then c.n end), 0) as bigint) as ready,
    cast(coalesce(sum(case when c.bucket = 'sending' then c.n end), 0) as bigint) as sending,
    cast(coalesce(sum(case when c.bucket = 'unknown' then c.n end), 0) as bigint) as unknown,
    cast(coalesce(sum(case when c.bucket = 'sent' then c.n end), 0) as bigint) as sent,
    cast(coalesce(sum(case when c.bucket = 'assumed' then c.n end), 0) as bigint) as assumed,
    cast(coalesce(sum(case when c.bucket = 'failed' then c.n end), 0) as bigint) as failed
from batch b left join batch_count c on c.batch = b.id
group by b.id, b.name, b.kind, b.wanted;

create or replace view mail as
select d.id as id, b.name as batch, r.key as key, r.address as address, d.state as state, d.how as how, d.flag as flag,
    d.attempt as attempt, d.tries as tries, d.generation as generation, d.worker as worker,
    d.phase as phase, d.code as code, d.enhanced as enhanced,
    case when d.first_started > 0 then timestamp '1970-01-01' + d.first_started * interval '1 microsecond' end as first_started,
    timestamp '1970-01-01' + d.due_at * interval '1 microsecond' as due_at,
    timestamp '1970-01-01' + d.updated * interval '1 microsecond' as updated
from delivery d join recipient r on r.id = d.id join batch b on b.id = d.batch;
