/** How the prompt of a task begins that ends every process that hands it to its vendor. */
export const POISON = 'poison';
