import { common, failures, product, status } from './en/common';
import { roles, shell } from './en/shell';

/** What every page needs of the words of the console. English is the measure: a language that lacks one does not compile. */
export const en = { product, common, status, failures, shell, roles };
