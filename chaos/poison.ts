/** The prompt of a task that ends every process that hands it to its vendor. */
export const POISON = 'poison';
