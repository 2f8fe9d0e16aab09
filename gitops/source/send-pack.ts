// Pushes known objects over HTTP (gitprotocol-http(5), gitprotocol-pack(5)). A library's push would
// walk the whole history and the whole tree to find them.
import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import type { HttpClient } from 'isomorphic-git'
import type { Push } from './config-source.ts'
import type { StagedObjects } from '#gitops/git/objects/driver.ts'

const zeroId = '0'.repeat(40)
const flush = '0000'
const objectTypes = { commit: 1, tree: 2, blob: 3 } as const
const reportBytesMax = 64 * 1024

export interface SendPack {
  readonly http: HttpClient
  readonly url: string
  readonly headers: Record<string, string>
  readonly ref: string
  readonly push: Push
}

/**
 * The server compares: it moves the branch only from where the push expects it.
 *
 * @returns '' when the branch has moved, else the server's reason. @throws when no answer came
 */
export async function sendPack({ http, url, headers, ref, push }: SendPack): Promise<string> {
  const { expected, commit, objects } = push
  const capabilities = 'report-status object-format=sha1 agent=gslbd'
  const command = `${expected ?? zeroId} ${commit} ${ref}\0 ${capabilities}`
  const body = Buffer.concat([Buffer.from(packetLine(command) + flush), packOf(objects)])
  const answer = await http.request({
    url: `${url}/git-receive-pack`,
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/x-git-receive-pack-request',
      accept: 'application/x-git-receive-pack-result',
    },
    body: once(body),
  })
  const chunks: Uint8Array[] = []
  for await (const chunk of answer.body ?? []) chunks.push(chunk)
  return reasonIn(Buffer.concat(chunks).subarray(0, reportBytesMax).toString('utf8'), ref)
}

async function* once(body: Uint8Array): AsyncIterableIterator<Uint8Array> {
  yield body
}

function packetLine(text: string): string {
  return (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text
}

/** Version 2, without deltas: gitformat-pack(5). */
export function packOf(objects: StagedObjects): Buffer {
  const head = Buffer.alloc(12)
  head.write('PACK')
  head.writeUInt32BE(2, 4)
  head.writeUInt32BE(objects.size, 8)
  const parts: Buffer[] = [head]
  for (const { type, content } of objects.values()) {
    parts.push(entryHead(objectTypes[type], content.length), deflateSync(content))
  }
  const pack = Buffer.concat(parts)
  return Buffer.concat([pack, createHash('sha1').update(pack).digest()])
}

/** Three bits of type, then the size, four and then seven bits an octet. */
function entryHead(type: number, size: number): Buffer {
  const octets = [(type << 4) | (size & 15)]
  for (let rest = size >>> 4; rest > 0; rest >>>= 7) {
    octets[octets.length - 1]! |= 0x80
    octets.push(rest & 0x7f)
  }
  return Buffer.from(octets)
}

function reasonIn(report: string, ref: string): string {
  const lines = report.split('\n').map((line) => line.replace(/^(?:0000)*[0-9a-f]{4}/, ''))
  const unpack = lines.find((line) => line.startsWith('unpack '))?.slice('unpack '.length)
  if (unpack === undefined) throw new Error('the Git server answered a push without a report')
  if (unpack !== 'ok') return `The Git server could not take the commit: ${printable(unpack)}.`
  if (lines.includes(`ok ${ref}`)) return ''
  const refusal = lines.find((line) => line.startsWith(`ng ${ref} `)) ?? 'no reason given'
  return (
    `The Git server refused the commit: ${printable(refusal.replace(`ng ${ref} `, ''))}. The ` +
    'branch may be protected; allow the account of gitops.url to push to it.'
  )
}

/** What a server says must not steer a terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '?').slice(0, 200)
}
