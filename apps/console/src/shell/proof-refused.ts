/** The user closed the dialog without confirming their identity. */
export class ProofRefused extends Error {
  override readonly name = 'ProofRefused';
}
