// The parts of acme-client that are used, without those that bring node-forge along.
declare module 'acme-client/src/axios.js' {
  /** What it asks for: its headers are those of each of its requests. */
  export interface AcmeRequest {
    readonly url?: string
    readonly method?: string
    /** JSON. */
    readonly data?: unknown
  }

  const axios: { readonly defaults: { adapter: (request: AcmeRequest) => Promise<unknown> } }
  export default axios
}

declare module 'acme-client/src/client.js' {
  import type { Client } from 'acme-client'

  const client: typeof Client
  export default client
}

declare module 'acme-client/src/crypto/index.js' {
  import type { CryptoInterface } from 'acme-client'

  const crypto: CryptoInterface
  export default crypto
}
