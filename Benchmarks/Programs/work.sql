create table t(id integer primary key, name text, value real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 150000)
  insert into t select i, printf('name %d', i * 7919 % 150000), i / 3.0 from n;
create index t_name on t(name);
select count(*), sum(value) from t where name like 'name 1%';
select substr(name, 1, 7) k, count(*), group_concat(id) from t group by k order by k limit 5;
update t set name = name || '!' where id % 2 = 0;
select count(distinct name) from t;
