// Replays a logged query through the server's own answer code, with the bundle, health, seed and
// turn of its time: the same octets must result.
import type { Bundle } from '#bundle/format/bundle.ts'
import { scriptsOf } from '#judge/simulate/scripts.ts'
import type { SimulatedScripts } from '#judge/simulate/scripts.ts'
import { otherReleases } from '#inputs/geo/databases.ts'
import type { Databases } from '#inputs/geo/databases.ts'
import { gapText } from '#why/look-back.ts'
import { parseAddress } from '#dns/address.ts'
import { EdnsOption } from '#dns/edns-codes.ts'
import { HeaderOffset } from '#dns/header.ts'
import { RrType } from '#dns/rrtype.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { answer } from '#answer/answer.ts'
import { createServingView } from '#answer/serving-view.ts'
import { Carrier, Transaction, Transport } from '#answer/transaction.ts'
import type { AnswerSettings } from '#answer/transaction.ts'
import { Counters } from '#answer/counters/counters.ts'
import type { Gap, Moment } from '#journal/moment.ts'
import type { GenerationHead } from '#journal/format/records.ts'
import { replayState } from '#journal/replay.ts'
import type { ReadRecord } from '#answer/query-log/dnstap-reader.ts'
import { createHash } from 'node:crypto'
import { readEntries } from '#journal/format/changes.ts'
import { OctetReader } from '#journal/format/octets.ts'

interface ReplayParts {
  /** Current settings, since past ones are not recorded. */
  readonly settings: AnswerSettings
  readonly databases: Databases
  readonly momentAt: (atMs: number) => Moment | Gap
  /** Loads a bundle; a few are cached. Errors: a sentence. */
  readonly bundleOf: (head: GenerationHead) => Promise<Result<Bundle, string>>
}

export type Replayed =
  | {
      readonly kind: 'same'
      /** Turns that another thread took in between. */
      readonly turnsOff: number
      /** Distance to a change of health whose other side gives the same answer. */
      readonly healthOffMs: number
    }
  | {
      readonly kind: 'other'
      /** The logged reply, and the replayed one below; empty: none. */
      readonly then: Uint8Array
      readonly now: Uint8Array
      /** Possible causes in sentences; none is known: empty. */
      readonly causes: readonly string[]
    }
  /** The record or the journal lacks something: a sentence. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** Offsets in milliseconds to try, since two threads read the clock for the log and the journal. */
const aroundMs: readonly number[] = [0, -3, 3, -30, 30, -300, 300]
const turnsOffMax = 4
const bundlesMax = 8
const replyBytesMax = 65_535

/** Fields of a record that a replay needs. */
interface Asked {
  readonly atMs: number
  readonly digest: string
  readonly node: string
  readonly seed: number
  readonly turn: number | undefined
  readonly client: Uint8Array
  readonly query: Uint8Array
  /** Empty: none was sent. */
  readonly reply: Uint8Array
}

/** The state that answers, kept for the next record while nothing changes. */
interface Answering {
  readonly key: string
  readonly state: RoutingState
  readonly scripts: SimulatedScripts | null
}

export class Replay {
  readonly #parts: ReplayParts
  readonly #tx: Transaction
  readonly #reply = new Uint8Array(replyBytesMax)
  readonly #bundles = new Map<string, Result<Bundle, string>>()
  #calls = 0
  #answering: Answering | undefined

  constructor(parts: ReplayParts) {
    this.#parts = parts
    const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
    // Jumps ahead at each call, so that no script runs out of time that earlier ones used up.
    this.#tx = new Transaction(parts.settings, 0, counters, () => (this.#calls += 1_000_000))
  }

  async one(record: ReadRecord): Promise<Replayed> {
    const asked = askedOf(record)
    if (!asked.ok) return unknown(asked.error)
    const { atMs, digest, node, reply: then } = asked.value
    const tried = new Set<string>()
    let first: { readonly now: Uint8Array; readonly moment: Moment } | undefined
    let why: string | undefined
    for (const healthOffMs of aroundMs) {
      const moment = this.#parts.momentAt(atMs + healthOffMs)
      const misfit = misfitOf(moment, asked.value)
      if (moment.kind === 'gap' || misfit !== undefined) {
        why ??= moment.kind === 'gap' ? gapText(moment, atMs) : misfit
        continue
      }
      const key = momentKey(moment)
      if (tried.has(key)) continue
      tried.add(key)
      const adopted = await this.#adopt(moment, key)
      if (!adopted.ok) return unknown(adopted.error)
      for (const turnsOff of turnsTried(asked.value)) {
        const now = this.#answer(asked.value, record, turnsOff)
        if (Buffer.compare(now, then) === 0) return { kind: 'same', turnsOff, healthOffMs }
        if (this.#tx.isUnsignable) return unknown(signedZone)
        first ??= { now: Uint8Array.from(now), moment }
      }
    }
    if (first === undefined) {
      return unknown(why ?? `the journal of ${node} does not have ${digest}`)
    }
    const { releases } = this.#parts.databases
    const { moment } = first
    const causes = [...otherReleases(moment.tables, releases), ...causesOf(record)]
    return { kind: 'other', then, now: first.now, causes }
  }

  async close(): Promise<void> {
    await this.#answering?.scripts?.close()
    this.#answering = undefined
  }

  async #adopt(moment: Moment, key: string): Promise<Result<null, string>> {
    if (this.#answering?.key === key && this.#answering.scripts === null) return ok(null)
    const bundle = await this.#bundle(moment.generation)
    if (!bundle.ok) return bundle
    const state = replayState(bundle.value, moment)
    if (!state.ok) return state
    await this.close()
    const { bytes, digest } = bundle.value
    const tables = this.#parts.databases.tablesFor(bundle.value)
    const scripts = scriptsOf([bundle.value], tables, moment.atMs)
    const routing = state.value.buffers
    const generation = { number: 1, bundle: bytes, digest, dynamic: null, routing, tables }
    this.#tx.adopt(createServingView(generation, { scripts }))
    this.#answering = { key, state: state.value, scripts }
    return ok(null)
  }

  async #bundle(head: GenerationHead): Promise<Result<Bundle, string>> {
    const known = this.#bundles.get(head.digest)
    if (known !== undefined) return known
    const [oldest] = this.#bundles.keys()
    if (this.#bundles.size >= bundlesMax && oldest !== undefined) this.#bundles.delete(oldest)
    const found = await this.#parts.bundleOf(head)
    this.#bundles.set(head.digest, found)
    return found
  }

  /** @returns a view that the next answer overwrites */
  #answer({ seed, turn, client, query }: Asked, record: ReadRecord, turnsOff: number): Uint8Array {
    const tx = this.#tx
    this.#answering!.state.serviceCursor.fill((turn ?? 0) - turnsOff)
    tx.random.restart(seed)
    const { protocol = 'udp' } = record
    tx.transport = protocol === 'udp' ? Transport.Udp : Transport.Tcp
    tx.carrier = carriers[protocol]
    tx.source = client
    tx.sourceAt = 0
    tx.sourceBytes = client.length
    const written = answer(tx, query, 0, query.length, this.#reply, 0, replyBytesMax)
    return this.#reply.subarray(0, written)
  }
}

const carriers = {
  ...{ udp: Carrier.Plain, tcp: Carrier.Plain, dot: Carrier.Tls, doh: Carrier.Https },
} as const

const signedZone = 'its zone is signed, and signatures are not made again'

const unknown = (reason: string): Replayed => ({ kind: 'unknown', reason })

/** Checks a record, which may be of another program. Errors: a sentence. */
function askedOf({
  askedMs,
  client,
  query,
  reply,
  extra,
  kind,
}: ReadRecord): Result<Asked, string> {
  const { digest, turn, node, reason, service } = extra ?? {}
  // Without a service nothing was drawn.
  const seed = service === undefined ? 0 : extra?.seed
  if (typeof digest !== 'string' || typeof node !== 'string' || typeof seed !== 'number') {
    return err('it was not written by gslbd: it has no digest, node or seed')
  }
  if (reason === 'no-bundle') return err('there was no bundle yet')
  if (askedMs === undefined) return err('it has no time')
  if (query === undefined) return err('it has no query')
  if (reply === undefined && kind !== 'query') return err('the answer was too long for the log')
  const source = parseAddress(client ?? '')
  if (!source.ok) return err('it has no address of a client')
  return ok({
    ...{ atMs: askedMs, digest, node, seed: seed >>> 0, query },
    turn: typeof turn === 'number' ? turn : undefined,
    client: Uint8Array.from(source.value),
    reply: withoutCookie(reply ?? new Uint8Array(0)),
  })
}

const optHead = [0, 0, RrType.OPT]

/** The reply without its DNS cookie, whose secret a replay does not have. */
function withoutCookie(reply: Uint8Array): Uint8Array {
  const octets = Buffer.from(reply)
  // The node's OPT record comes last, and begins where its length says.
  let opt = octets.lastIndexOf(Buffer.from(optHead))
  while (opt >= 0 && !endsMessage(octets, opt)) {
    opt = opt === 0 ? -1 : octets.lastIndexOf(Buffer.from(optHead), opt - 1)
  }
  if (opt < 0) return reply
  for (let at = opt + optHeaderBytes; at + 4 <= octets.length;) {
    const end = at + 4 + octets.readUInt16BE(at + 2)
    if (octets.readUInt16BE(at) === EdnsOption.Cookie) {
      const rest = padded(octets.subarray(end), end - at)
      octets.writeUInt16BE(at + rest.length - opt - optHeaderBytes, opt + 9)
      return Uint8Array.from(Buffer.concat([octets.subarray(0, at), rest]))
    }
    at = end
  }
  return reply
}

/** Options, with the padding of a message that is shorter by `bytes`: RFC 8467 section 4.1. */
function padded(options: Buffer, bytes: number): Buffer {
  for (let at = 0; at + 4 <= options.length; at += 4 + options.readUInt16BE(at + 2)) {
    if (options.readUInt16BE(at) !== EdnsOption.Padding) continue
    const head = Buffer.from(options.subarray(0, at + 4))
    // Padding comes last.
    const length = (options.length - head.length + bytes) % paddingBlockBytes
    head.writeUInt16BE(length, at + 2)
    return Buffer.concat([head, Buffer.alloc(length)])
  }
  return options
}

/** Octets that a reply over an encrypted transport is filled to a multiple of. */
const paddingBlockBytes = 468

function endsMessage(octets: Buffer, opt: number): boolean {
  const options = opt + optHeaderBytes
  return options <= octets.length && options + octets.readUInt16BE(opt + 9) === octets.length
}

/** Root name, type, class, TTL and length: RFC 6891 section 6.1.2. */
const optHeaderBytes = 11

/** Why a moment does not fit the record, in a sentence. */
function misfitOf(moment: Moment | Gap, { digest, node, atMs }: Asked): string | undefined {
  if (moment.kind === 'gap') return undefined
  const { segment, generation } = moment
  if (segment.node !== node)
    return `it is of node ${node}, and this is the journal of ${segment.node}`
  if (generation.digest === digest) return undefined
  const at = new Date(atMs).toISOString()
  return `the journal has another bundle at ${at}, ${generation.digest.slice(0, 12)}`
}

/** With several threads, another one may take turns between a turn and its record. */
function turnsTried({ turn }: Asked): readonly number[] {
  return turn === undefined ? [0] : Array.from({ length: turnsOffMax + 1 }, (_, i) => i)
}

/** Lists in sentences what a replay lacks, as causes of a difference. */
function causesOf(record: ReadRecord): readonly string[] {
  const { extra } = record
  const steps = typeof extra?.reason === 'string' ? extra.reason.split(',') : []
  return [
    ...(extra?.truncated === true ? ['the end of the address of the client was not logged'] : []),
    ...(mayBeWritten(record) ? ['records written at run time are not kept'] : []),
    ...steps.flatMap((step) => notKept[step] ?? []),
  ]
}

/**
 * Whether records written at run time may have changed the answer: they answer TXT and ANY, and
 * make names exist.
 */
function mayBeWritten({ extra, type, rcode, reply }: ReadRecord): boolean {
  if (type === 'TXT' || type === 'ANY') return true
  if (extra?.service !== undefined || rcode !== 'NOERROR' || reply === undefined) return false
  const at = HeaderOffset.AnCount
  return reply.length >= at + 2 && reply[at] === 0 && reply[at + 1] === 0
}

const notKept: Readonly<Record<string, string>> = {
  latency: 'round trips are kept to a sixteenth',
  'latency-region': 'round trips are kept to a sixteenth',
  rum: 'what browsers had measured is not kept',
  script: 'what a script has read beside its query is not kept',
  servfail: 'a limit of queries, as the licence sets it, is not looked at again',
}

/** Equal for moments without a change between them. */
function momentKey({ generation, segment, state, changes }: Moment): string {
  const hash = createHash('sha1').update(state)
  for (const { payload } of changes) hash.update(payload)
  const last = changes.at(-1)
  const entries = last === undefined ? 0 : entriesUntil(last.payload, last.untilMs)
  const { digest, seq } = generation
  return `${segment.run} ${seq} ${digest} ${hash.digest('hex')} ${entries}`
}

function entriesUntil(payload: Buffer, untilMs: number): number {
  let ms = 0
  let count = 0
  for (const entry of readEntries(new OctetReader(payload))) {
    if (entry.kind === 'time') ms += entry.ms
    if (ms > untilMs) return count
    count++
  }
  return count
}
