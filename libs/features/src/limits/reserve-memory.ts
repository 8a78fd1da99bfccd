/**
 * Reserves so many bytes of memory until the response has been sent, or gives them back where the number is negative.
 *
 * @throws GatewayError when there is too little.
 */
export type ReserveMemory = (bytes: number) => void;
