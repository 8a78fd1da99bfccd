/** The person closed the window instead of proving who is there. */
export class ProofRefused extends Error {
  override readonly name = 'ProofRefused';
}
