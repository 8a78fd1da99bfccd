/** Reserves so many bytes of memory for what was stored, until the response has been sent. @throws GatewayError when there is too little. */
export type ReserveMemory = (bytes: number) => void;
