-- Rows made, indexed, joined, grouped, changed.
pragma journal_mode = off;
create table customer (id integer primary key, name text, town integer);
create table bill (id integer primary key, customer integer, day integer, amount integer);
with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000)
    insert into customer select i, 'c' || (i * 7919 % 20011), i * 31 % 500 from n;
with recursive n (i) as (select 1 union all select i + 1 from n where i < 180000)
    insert into bill select i, i * 48271 % 20000 + 1, i * 16807 % 365, i * 69621 % 10007 from n;
create index bill_customer on bill (customer);
create index customer_town on customer (town, name);
select town, count(*), sum(amount) from customer join bill on bill.customer = customer.id
    group by town order by 3 desc limit 5;
select name, (select max(amount) from bill where customer = customer_.id) from customer customer_
    where town between 10 and 60 order by 2 desc, 1 limit 5;
update bill set amount = amount + 1 where customer in (select id from customer where town % 7 = 0);
select day / 30, count(distinct customer), avg(amount) from bill group by 1 order by 1;
select count(*) from bill a join bill b on a.customer = b.customer and a.day < b.day;
