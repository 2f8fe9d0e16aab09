// The files of acme-client that are used, with their types. Its entry, which alone has types, would
// bring node-forge along.
import type { Client, CryptoInterface } from 'acme-client'
// @ts-expect-error: a file without types
import axios from 'acme-client/src/axios.js'
// @ts-expect-error: a file without types
import client from 'acme-client/src/client.js'
// @ts-expect-error: a file without types
import crypto from 'acme-client/src/crypto/index.js'

/** What the client asks for; its headers are the same for all of its requests. */
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
