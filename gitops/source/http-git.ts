// Speaks to an HTTP(S) remote without starting a process: asks for its refs, pushes known objects.
import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { boundedBytes } from '#lib/http/bounded-body.ts'
import type { StagedObjects } from '#gitops/git/objects/driver.ts'
import { gitLimits } from '#gitops/limits.ts'
import type { Push } from './config-source.ts'
import { lateAnswer } from './git-program.ts'
import type { RemoteLimits } from './git-program.ts'

export interface HttpRemote {
  /** Address without credentials. */
  readonly url: string
  /** `user:password`, or ''. */
  readonly credentials: string
  /**
   * Each call throws a `RemoteError` after `idleMs` without an octet, and after `totalMs` in all.
   */
  readonly limits: Pick<RemoteLimits, 'idleMs' | 'totalMs'>
  readonly stop: AbortSignal
}

interface Question {
  readonly path: string
  readonly service: 'upload-pack' | 'receive-pack'
  /** Body of a POST; left out: a GET that asks for the refs. */
  readonly body?: string | Buffer
}

/**
 * Lists refs, by versions 0 and 2 of gitprotocol-http(5).
 *
 * @returns undefined where the answer cannot be used: git may ask then, and names the reason
 */
export function httpRefs(
  remote: HttpRemote,
  prefix: string,
): Promise<ReadonlyMap<string, string> | undefined> {
  const service = 'upload-pack'
  return attempt(remote, async (ask) => {
    const first = await ask({ path: `/info/refs?service=git-${service}`, service })
    const lines = first.filter((line) => !line.startsWith('# service='))
    if (lines.some((line) => /\bobject-format=(?!sha1\b)/.test(line))) return undefined
    if (lines[0] !== 'version 2') return refsIn(lines, prefix)
    const body = `${packet('command=ls-refs\n')}0001${packet(`ref-prefix ${prefix}\n`)}0000`
    return refsIn(await ask({ path: `/git-${service}`, service, body }), prefix)
  })
}

/**
 * Pushes objects; the server moves the branch only from where the push expects it.
 *
 * @returns '' when it has moved, else the server's reason; undefined where that is not known
 */
export function httpPush(
  remote: HttpRemote,
  ref: string,
  { expected, commit, objects }: Push,
): Promise<string | undefined> {
  const service = 'receive-pack'
  return attempt(remote, async (ask) => {
    const command = `${expected ?? zeroId} ${commit} ${ref}\0 report-status object-format=sha1`
    const body = Buffer.concat([Buffer.from(`${packet(command)}0000`), packOf(objects)])
    return reasonIn(await ask({ path: `/git-${service}`, service, body }), ref)
  })
}

/**
 * Reads a report-status of gitprotocol-pack(5). '': the ref has moved; undefined: the report does
 * not mention it.
 */
export function reasonIn(lines: readonly string[], ref: string): string | undefined {
  const [unpacked = ''] = lines
  if (!unpacked.startsWith('unpack ')) return undefined
  if (unpacked !== 'unpack ok') return unpacked
  if (lines.includes(`ok ${ref}`)) return ''
  return lines.find((line) => line.startsWith(`ng ${ref} `))?.slice(`ng ${ref} `.length)
}

const zeroId = '0'.repeat(40)

async function attempt<T>(
  { url, credentials, limits, stop }: HttpRemote,
  act: (ask: (question: Question) => Promise<string[]>) => Promise<T>,
): Promise<T | undefined> {
  const late = new AbortController()
  const giveUp = (): void => late.abort()
  const idle = setTimeout(giveUp, limits.idleMs)
  const total = setTimeout(giveUp, limits.totalMs)
  const signal = AbortSignal.any([stop, late.signal])
  const headers = { 'git-protocol': 'version=2', ...authorization(credentials) }
  const ask = async (question: Question): Promise<string[]> =>
    packetLines(
      await hear(question).catch(() => {
        throw new Unusable('no answer')
      }),
    )
  /** Sends one request. @throws what fetch throws */
  const hear = async ({ path, service, body: sent }: Question): Promise<Buffer> => {
    const more = {
      method: 'POST',
      headers: { ...headers, 'content-type': `application/x-git-${service}-request` },
      body: sent,
    }
    const init = { signal, headers, redirect: 'manual', ...(sent !== undefined && more) } as const
    const { status, headers: answered, body } = await fetch(url + path, init)
    const kind = sent === undefined ? 'advertisement' : 'result'
    const isGit = answered.get('content-type') === `application/x-git-${service}-${kind}`
    if (status !== 200 || !isGit) throw new Unusable('not as asked for')
    const heard = async function* (): AsyncGenerator<Uint8Array> {
      for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
        idle.refresh()
        yield part
      }
    }
    return Buffer.from(await boundedBytes(heard(), gitLimits.programOutputBytesMax))
  }
  try {
    return await act(ask)
  } catch (error) {
    if (!(error instanceof Unusable)) throw error
    if (late.signal.aborted) throw lateAnswer(url)
    return undefined
  } finally {
    clearTimeout(idle)
    clearTimeout(total)
    // Ends the part of the response that was not read.
    late.abort()
  }
}

function authorization(credentials: string): Record<string, string> {
  if (credentials === '') return {}
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
}

function packet(text: string): string {
  return (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text
}

/**
 * Reads pkt-lines of gitprotocol-common(5), without flush and delimiter packets.
 *
 * @throws where they are incomplete: a list that was cut must not look like a short one
 */
export function packetLines(bytes: Buffer): string[] {
  const lines: string[] = []
  let isEnded = false
  for (let at = 0; at < bytes.length;) {
    const head = bytes.toString('latin1', at, at + 4)
    const length = /^[0-9a-f]{4}$/i.test(head) ? Number.parseInt(head, 16) : -1
    if (length < 0 || length === 3 || at + length > bytes.length) throw new Unusable('no packet')
    isEnded = length === 0
    if (length >= 4) lines.push(bytes.toString('utf8', at + 4, at + length).replace(/\n$/, ''))
    at += Math.max(4, length)
  }
  if (!isEnded) throw new Unusable('the end is missing')
  return lines
}

/** @throws where a line does not name a ref */
export function refsIn(lines: readonly string[], prefix: string): ReadonlyMap<string, string> {
  const refs = new Map<string, string>()
  for (const line of lines) {
    const [, oid = '', ref = ''] = /^([0-9a-f]{40}) ([^\s\0]+)(?:\0.*)?$/.exec(line) ?? []
    if (ref === '') throw new Unusable('not a ref')
    if (ref.startsWith(prefix)) refs.set(ref, oid)
  }
  return refs
}

/** Thrown for an answer that cannot be used. */
class Unusable extends Error {}

const objectTypes = { commit: 1, tree: 2, blob: 3 } as const

/** Encodes a pack of version 2 without deltas: gitformat-pack(5). */
function packOf(objects: StagedObjects): Buffer {
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

/** Encodes type (3 bits) and size: 4 bits in the first octet, 7 in each further one. */
function entryHead(type: number, size: number): Buffer {
  const octets = [(type << 4) | (size & 15)]
  for (let rest = size >>> 4; rest > 0; rest >>>= 7) {
    octets[octets.length - 1]! |= 0x80
    octets.push(rest & 0x7f)
  }
  return Buffer.from(octets)
}
