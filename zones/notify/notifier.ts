// Notifies secondary servers of changed zones, and retries until they acknowledge. RFC 1996.
import { createSocket } from 'node:dgram'
import type { RemoteInfo, Socket } from 'node:dgram'
import { randomInt } from 'node:crypto'
import { Flag1, HeaderOffset, Opcode, QClass } from '#dns/header.ts'
import { formatName } from '#dns/name.ts'
import { Rcode, rcodeNames } from '#dns/rcode.ts'
import { RrType } from '#dns/rrtype.ts'
import { refusalIn } from '#dns/tsig/check-replies.ts'
import { MessageSigner, tsigBytesMax } from '#dns/tsig/sign-message.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { readTsig } from '#dns/tsig/tsig-record.ts'
import type { Log } from '#lib/log.ts'
import type { After } from '#lib/timer.ts'

export interface NotifyTarget {
  /** In presentation form. */
  readonly address: string
  readonly port: number
}

interface NotifierParts {
  readonly targets: readonly NotifyTarget[]
  /**
   * Source address, used for targets of its family: secondaries recognise their primary by it.
   * Empty: the kernel chooses.
   */
  readonly source: string
  /** Apexes of the serving zones, in wire form. */
  readonly zones: () => readonly Uint8Array[]
  /** `dns.axfr.notifyKey`; empty: messages are not signed. */
  readonly keyName: string
  /** undefined: there is no such key here, or none is named. */
  readonly key: () => TsigKey | undefined
  readonly nowMs: () => number
  readonly after: After
  readonly log: Log
}

/** Counts since the start. */
interface NotifyCounts {
  sent: number
  acknowledged: number
  /** Answered with an rcode, or given up without an answer. */
  failed: number
}

/** Changes within this time are sent together. */
export const coalesceMs = 1_000
/**
 * RFC 1996 section 3.6: retries with growing delays. After the last, the refresh timer of SOA
 * remains.
 */
export const retryMs: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000]
/** Messages under way at once; others wait. */
const underWayMax = 64

interface Notice {
  readonly target: NotifyTarget
  readonly zone: Uint8Array
}

/** Zones that one server did not take for one reason. */
interface Failure {
  readonly target: NotifyTarget
  readonly zone: Uint8Array
  readonly reason: string
  others: number
}

interface Sent extends Notice {
  readonly tries: number
  readonly callOff: () => void
}

export class Notifier {
  readonly #parts: NotifierParts
  readonly counts: NotifyCounts = { sent: 0, acknowledged: 0, failed: 0 }
  #sockets: { readonly v4: Socket; readonly v6: Socket } | undefined
  #callOffStart: (() => void) | undefined
  /** By `keyOf`: at most one for each zone and target. */
  readonly #waiting = new Map<string, Notice>()
  readonly #underWay = new Map<number, Sent>()
  /** What failed since the last line in the log: a secondary that fails does so for each zone. */
  readonly #failures = new Map<string, Failure>()
  #isStopped = false

  constructor(parts: NotifierParts) {
    this.#parts = parts
  }

  /** Called when all zones have a new serial. */
  changed(): void {
    if (this.#parts.targets.length === 0 || this.#isStopped) return
    this.#callOffStart ??= this.#parts.after(coalesceMs, () => this.#begin())
  }

  stop(): void {
    this.#isStopped = true
    this.#callOffStart?.()
    for (const { callOff } of this.#underWay.values()) callOff()
    this.#underWay.clear()
    this.#waiting.clear()
    this.#sockets?.v4.close()
    this.#sockets?.v6.close()
    this.#sockets = undefined
  }

  #begin(): void {
    this.#callOffStart = undefined
    this.#tell()
    // Messages under way announced an older serial; their answers do not count for this one.
    for (const { callOff } of this.#underWay.values()) callOff()
    this.#underWay.clear()
    for (const zone of this.#parts.zones()) {
      for (const target of this.#parts.targets)
        this.#waiting.set(keyOf(target, zone), { target, zone })
    }
    this.#next()
  }

  #next(): void {
    for (const [key, notice] of this.#waiting) {
      if (this.#underWay.size >= underWayMax) return
      this.#waiting.delete(key)
      this.#send(notice, 0)
    }
    if (this.#underWay.size === 0) this.#tell()
  }

  #send({ target, zone }: Notice, tries: number): void {
    let id = randomInt(0x1_0000)
    while (this.#underWay.has(id)) id = (id + 1) & 0xffff
    const callOff = this.#parts.after(retryMs[tries]!, () => this.#again(id))
    this.#underWay.set(id, { target, zone, tries, callOff })
    this.counts.sent++
    this.#socketFor(target).send(this.#message(id, zone), target.port, target.address, (error) => {
      // For example, no route: retried like a lost message.
      if (error !== null)
        this.#parts.log.warn({ ...target, reason: error.message }, 'NOTIFY not sent')
    })
  }

  #again(id: number): void {
    const sent = this.#underWay.get(id)
    if (sent === undefined) return
    this.#underWay.delete(id)
    if (sent.tries + 1 < retryMs.length) return this.#send(sent, sent.tries + 1)
    this.#fail(sent, 'no answer')
    this.#next()
  }

  #fail({ target, zone }: Notice, reason: string): void {
    this.counts.failed++
    const key = `${target.address} ${target.port} ${reason}`
    const failure = this.#failures.get(key)
    if (failure === undefined) this.#failures.set(key, { target, zone, reason, others: 0 })
    else failure.others++
  }

  #tell(): void {
    for (const { target, zone, others, reason } of this.#failures.values()) {
      const about = { server: target.address, port: target.port, zone: formatName(zone), others }
      this.#parts.log.warn({ ...about, reason }, 'a secondary server did not take a NOTIFY')
    }
    this.#failures.clear()
  }

  /** @param rcode not 0 */
  #reasonOf(reply: Uint8Array, rcode: number): string {
    const [key, { keyName }] = [this.#parts.key(), this.#parts]
    const name = rcodeNames[rcode] ?? `RCODE${rcode}`
    const signature = readTsig(reply)
    const refusal =
      key === undefined || signature === null || signature === 'malformed'
        ? undefined
        : refusalIn(signature, key)
    if (refusal !== undefined) return `${name}: it ${refusal}`
    const hint = hints[rcode]
    const unsigned = key === undefined && keyName !== '' ? `; sent without ${keyName}${noKey}` : ''
    return `${name}${hint === undefined ? '' : `: ${hint}`}${unsigned}`
  }

  #message(id: number, zone: Uint8Array): Uint8Array {
    const key = this.#parts.key()
    const end = HeaderOffset.End + zone.length + 4
    const message = Buffer.alloc(end + (key === undefined ? 0 : tsigBytesMax(key)))
    message.writeUInt16BE(id, HeaderOffset.Id)
    message[HeaderOffset.Flags1] = (Opcode.Notify << 3) | Flag1.Aa
    message.writeUInt16BE(1, HeaderOffset.QdCount)
    message.set(zone, HeaderOffset.End)
    message.writeUInt16BE(RrType.SOA, end - 4)
    message.writeUInt16BE(QClass.In, end - 2)
    if (key === undefined) return message
    const nowSeconds = Math.floor(this.#parts.nowMs() / 1_000)
    return message.subarray(0, new MessageSigner(key).sign(message, end, nowSeconds))
  }

  #socketFor({ address }: NotifyTarget): Socket {
    this.#sockets ??= { v4: this.#open('udp4'), v6: this.#open('udp6') }
    return address.includes(':') ? this.#sockets.v6 : this.#sockets.v4
  }

  #open(type: 'udp4' | 'udp6'): Socket {
    const socket = createSocket(type)
    socket.on('message', (reply, from) => this.#hear(reply, from))
    socket.on('error', (error) => this.#parts.log.warn({ reason: error.message }, 'NOTIFY'))
    const { source } = this.#parts
    if (source !== '' && source.includes(':') === (type === 'udp6')) socket.bind(0, source)
    socket.unref()
    return socket
  }

  /** Anybody may send here: only replies from the target with the right ID count. */
  #hear(reply: Buffer, from: RemoteInfo): void {
    if (reply.length < HeaderOffset.End) return
    const id = reply.readUInt16BE(HeaderOffset.Id)
    const sent = this.#underWay.get(id)
    const flags = reply[HeaderOffset.Flags1]!
    const isReply = (flags & Flag1.Qr) !== 0 && (flags & Flag1.OpcodeMask) >> 3 === Opcode.Notify
    if (sent === undefined || !isReply) return
    if (from.port !== sent.target.port || from.address !== sent.target.address) return
    sent.callOff()
    this.#underWay.delete(id)
    const rcode = reply[HeaderOffset.Flags2]! & 0x0f
    if (rcode === 0) this.counts.acknowledged++
    else this.#fail(sent, this.#reasonOf(reply, rcode))
    this.#next()
  }
}

const noKey = ', the key of dns.axfr.notifyKey, which is not here'
const noZone = 'it may not have this zone, or not from this server'
const hints: Readonly<Record<number, string>> = {
  [Rcode.NXDomain]: noZone,
  [Rcode.NotAuth]: noZone,
  [Rcode.Refused]: 'it may not take NOTIFY from this address, or not with this key or none',
}

function keyOf({ address, port }: NotifyTarget, zone: Uint8Array): string {
  return `${address} ${port} ${Buffer.from(zone).toString('latin1')}`
}
