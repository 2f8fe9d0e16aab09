// A source of bundles with faults that tests choose: a real HTTP server with a tree in memory.
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { signChannelRecord } from '#bundle/signature/channel.ts'
import type { ChannelRecord, SignedChannelRecord, SigningKey } from '#bundle/signature/channel.ts'
import { signBundle } from '#bundle/signature/sign.ts'
import { bundleDigest } from '#bundle/signature/digest.ts'
import { encode, smallModel } from './bundle-models.ts'

export type Behaviour = (request: IncomingMessage, response: ServerResponse) => void

export interface BundleSource {
  readonly url: string
  /** By path; a text is sent as it is. */
  readonly files: Map<string, Uint8Array | string | Behaviour>
  /** Paths with their queries, in order. */
  readonly asked: string[]
  readonly close: () => Promise<void>
}

export async function openSource(): Promise<BundleSource> {
  const files: BundleSource['files'] = new Map()
  const asked: string[] = []
  const server = createServer((request, response) => {
    const { url = '' } = request
    asked.push(url)
    const file = files.get(url.split('?', 1)[0] ?? '')
    if (typeof file === 'function') return file(request, response)
    response.statusCode = file === undefined ? 404 : 200
    response.end(file)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    files,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export const recordPath = '/bundles/channels/main'
export const pathOf = (digest: string): string => `/bundles/${digest}`

/** A signed bundle; it differs with the number. */
export function signedBundle(key: SigningKey, number = 1): { bytes: Uint8Array; digest: string } {
  const { bytes } = encode({ ...smallModel, commit: number.toString(16).padStart(40, '0') })
  signBundle(bytes, key)
  return { bytes, digest: bundleDigest(bytes) }
}

export function signedRecord(
  key: SigningKey,
  parts: Partial<ChannelRecord> & Pick<ChannelRecord, 'digest'>,
): SignedChannelRecord {
  const record = {
    channel: 'main',
    seq: 1,
    previous: '',
    commit: '',
    issuedAtMs: 0,
    expiresAtMs: 4_000_000_000_000,
    ...parts,
  }
  return signChannelRecord(record, key)
}
