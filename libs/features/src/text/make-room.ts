/** Makes room in memory for so many bytes of what was stored. @throws GatewayError when there is none. */
export type MakeRoom = (bytes: number) => void;
