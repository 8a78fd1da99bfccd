/** The parts of the S3 test server that the tests use; the package ships no types. */
declare module '@20minutes/s3rver' {
  interface Options {
    readonly address: string;
    readonly port: number;
    readonly silent: boolean;
    readonly vhostBuckets: boolean;
    readonly directory: string;
    readonly configureBuckets: readonly { readonly name: string }[];
  }
  /** What the checks of a request read, and its answer. */
  export interface S3Request {
    readonly path: string;
    readonly state: { vhost: boolean };
    readonly method: string;
    readonly query: Readonly<Record<string, string | string[] | undefined>>;
    mountPath: string;
    status: number;
    type: string;
    body: unknown;
  }
  export default class S3rver {
    /** Run in this order; the last one answers. */
    readonly middleware: ((request: S3Request, next: () => Promise<void>) => Promise<void>)[];
    constructor(options: Options);
    run(): Promise<{ port: number }>;
    close(): Promise<void>;
  }
}

declare module '@20minutes/s3rver/lib/models/account.js' {
  const accounts: { DUMMY_ACCOUNT: { createKeyPair(accessKeyId: string, secretAccessKey: string): void } };
  export default accounts;
}
