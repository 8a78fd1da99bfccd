/** Steps over an index from one account to the next, within a range of account ids. */
const stepOverAccounts = (where: string, range: string): string => `(
  with recursive step as (
    (select account_id from file_index where ${where} and account_id ${range} order by account_id limit 1)
    union all
    select (select i.account_id from file_index i
        where ${where} and i.account_id > step.account_id and i.account_id ${range} order by i.account_id limit 1)
    from step where step.account_id is not null
  ) select account_id from step where account_id is not null
)`;

/**
 * The accounts that have an index for which `where` holds, those behind the account `last` first: a query that finds as
 * many as are read of it, by an index that begins with what `where` fixes and `account_id`.
 */
export const accountsInTurn = (where: string, last: string): string =>
  `${stepOverAccounts(where, `> ${last}`)} union all ${stepOverAccounts(where, `<= ${last}`)}`;
