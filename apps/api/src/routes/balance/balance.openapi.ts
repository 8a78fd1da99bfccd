import { type OperationText, schemaOf } from '../../http/operation.js';

const userBalance = (id: string): OperationText => ({
  id,
  tag: 'Account',
  summary: 'The balance of the account',
  description: 'In a shape of its own, without the envelope.',
  answer: schemaOf('UserBalance'),
});

/** What is left, of an account and of a key. */
export const BALANCE_OPERATIONS = {
  readUserBalance: userBalance('readUserBalance'),
  readUserBalanceWithoutVersion: userBalance('readUserBalanceWithoutVersion'),
  readKeyBalance: {
    id: 'readKeyBalance',
    tag: 'Account',
    summary: 'What the key used and may still use',
    answer: schemaOf('UserBalance'),
  },
} satisfies Readonly<Record<string, OperationText>>;
