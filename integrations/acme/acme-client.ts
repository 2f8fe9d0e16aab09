// The used files of acme-client, with types. Its entry has types, but would load node-forge.
import type { Client, CryptoInterface } from 'acme-client'
// @ts-expect-error: a file without types
import axios from 'acme-client/src/axios.js'
// @ts-expect-error: a file without types
import client from 'acme-client/src/client.js'
// @ts-expect-error: a file without types
import crypto from 'acme-client/src/crypto/index.js'

/** A request of the client; all of its requests have the same headers. */
export interface AcmeRequest {
  readonly url?: string
  readonly method?: string
  /** JSON. */
  readonly data?: unknown
}

interface Requests {
  readonly defaults: { adapter: (request: AcmeRequest) => Promise<unknown> }
}

export const acmeRequests = axios as Requests
export const AcmeClient = client as typeof Client
export const acmeCrypto = crypto as CryptoInterface
