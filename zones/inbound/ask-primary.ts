// Asks a primary server for a zone over one connection of TCP or TLS: first for its serial, then
// for what has changed, or for all of it. RFC 5936 section 4, RFC 1995, RFC 9103.
import { randomInt } from 'node:crypto'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls, TLSSocket } from 'node:tls'
import type { AddressPort } from '#dns/address-port.ts'
import { HeaderOffset, QClass } from '#dns/header.ts'
import { RrType } from '#dns/rrtype.ts'
import { ReplyCheck } from '#dns/tsig/check-replies.ts'
import { MessageSigner, tsigBytesMax } from '#dns/tsig/sign-message.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { readTsig } from '#dns/tsig/tsig-record.ts'
import { assert } from '#lib/assert.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { inboundLimits } from './limits.ts'
import { isNewer, TransferReader } from './transfer-reader.ts'
import type { Transferred, TransferQuestion } from './transfer-reader.ts'

export interface PrimaryQuestion {
  /** Wire form, lower case. */
  readonly zone: Uint8Array
  readonly key: TsigKey | undefined
  /** The serial that is here; undefined: none is. */
  readonly serial: number | undefined
  /**
   * `changes`: IXFR where there is a serial. `whole`: AXFR. `anew`: AXFR, also of the serial that
   * is here. `force`: AXFR, whatever the serial.
   */
  readonly wants: 'changes' | 'whole' | 'anew' | 'force'
  /** The serial that came before and cannot be used: it is not transferred again. */
  readonly refused: number | undefined
}

interface Asking {
  readonly nowSeconds: () => number
  readonly stop: AbortSignal
  /** Name that its certificate must be for; undefined, or left out: it is asked without TLS. */
  readonly tls?: string | undefined
}

/** Errors: a sentence without its subject, which is the server: `refuses the connection`. */
export async function askPrimary(
  primary: AddressPort,
  question: PrimaryQuestion,
  asking: Asking,
): Promise<Result<Transferred, string>> {
  const got = await askOnce(primary, question, asking)
  // A server may know no IXFR, or not the serial: RFC 1995 section 4 has it send the whole zone.
  if (got.ok || got.error.of !== RrType.IXFR) return got.ok ? got : err(got.error.reason)
  const whole = await askOnce(primary, { ...question, wants: 'whole' }, asking)
  return whole.ok ? whole : err(whole.error.reason)
}

interface AskFault {
  /** The type that was asked for; 0: there was no connection. */
  readonly of: number
  readonly reason: string
}

async function askOnce(
  primary: AddressPort,
  question: PrimaryQuestion,
  { nowSeconds, stop, tls }: Asking,
): Promise<Result<Transferred, AskFault>> {
  if (stop.aborted) return err({ of: 0, reason: notWaitedFor })
  const socket = open(primary, tls)
  const messages = new Messages(socket, stop)
  const duration = setTimeout(() => messages.fail(tooLong), inboundLimits.durationMaxMs)
  try {
    const opened = await messages.opened()
    if (!opened.ok) return err({ of: 0, reason: opened.error })
    const { serial, wants, refused } = question
    const ask = async (qtype: number): Promise<Result<Transferred, AskFault>> => {
      const got = await exchange(messages, question, qtype, nowSeconds)
      return got.ok ? got : err({ of: qtype, reason: got.error })
    }
    const now = await ask(RrType.SOA)
    if (!now.ok) return now
    const offered = now.value.soa.serial
    const isAnew = wants === 'anew' && offered === serial
    const isThere = serial !== undefined && !isAnew && !isNewer(offered, serial)
    if ((isThere || offered === refused) && wants !== 'force') return now
    return await ask(wants === 'changes' && serial !== undefined ? RrType.IXFR : RrType.AXFR)
  } finally {
    clearTimeout(duration)
    messages.end()
  }
}

function open({ address: host, port }: AddressPort, tls: string | undefined): Socket {
  if (tls === undefined) return connect({ host, port, noDelay: true })
  // RFC 9103 section 7.1: no earlier version, and this protocol.
  const wanted = { minVersion: 'TLSv1.3', ALPNProtocols: ['dot'] } as const
  // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
  const isChecked = { servername: tls, rejectUnauthorized: true } as const
  return connectTls({ host, port, ...wanted, ...isChecked }).setNoDelay(true)
}

const tooLong = `takes longer than ${inboundLimits.durationMaxMs / 60_000} minutes`

async function exchange(
  messages: Messages,
  { zone, key, serial }: PrimaryQuestion,
  qtype: number,
  nowSeconds: () => number,
): Promise<Result<Transferred, string>> {
  const asked: TransferQuestion = {
    ...{ id: randomInt(0x1_0000), zone, qtype },
    serial: qtype === RrType.IXFR ? serial : undefined,
  }
  const message = questionMessage(asked, key, nowSeconds())
  const check = key === undefined ? undefined : replyCheck(key, message)
  const reader = new TransferReader(asked)
  messages.send(message)
  for (;;) {
    const next = await messages.next()
    if (!next.ok) return next
    const signed = check?.take(next.value, nowSeconds())
    if (signed?.ok === false) return signed
    const read = reader.take(next.value)
    if (!read.ok) return read
    if (read.value === undefined) continue
    // RFC 8945 section 5.3.1: the last message has a signature.
    if (check?.isSigned === false) return err('ends without a signature')
    return ok(read.value)
  }
}

function replyCheck(key: TsigKey, message: Uint8Array): ReplyCheck {
  const own = readTsig(message)
  assert(own !== null && own !== 'malformed', 'a question that was signed has a signature')
  return new ReplyCheck(key, own.mac)
}

/** @returns with its signature, where there is a key */
export function questionMessage(
  { id, zone, qtype, serial }: TransferQuestion,
  key: TsigKey | undefined,
  nowSeconds: number,
): Uint8Array {
  const questionEnd = HeaderOffset.End + zone.length + 4
  const end = questionEnd + (serial === undefined ? 0 : soaBytes)
  const message = Buffer.alloc(end + (key === undefined ? 0 : tsigBytesMax(key)))
  message.writeUInt16BE(id, HeaderOffset.Id)
  message.writeUInt16BE(1, HeaderOffset.QdCount)
  message.set(zone, HeaderOffset.End)
  message.writeUInt16BE(qtype, questionEnd - 4)
  message.writeUInt16BE(QClass.In, questionEnd - 2)
  if (serial !== undefined) {
    // RFC 1995 section 3: the SOA record that is here, of which the serial alone counts.
    message.writeUInt16BE(1, HeaderOffset.NsCount)
    message.writeUInt16BE(0xc000 | HeaderOffset.End, questionEnd)
    message.writeUInt16BE(RrType.SOA, questionEnd + 2)
    message.writeUInt16BE(QClass.In, questionEnd + 4)
    message.writeUInt16BE(soaRdataBytes, questionEnd + 10)
    message.writeUInt32BE(serial, questionEnd + 14)
  }
  if (key === undefined) return message
  return message.subarray(0, new MessageSigner(key).sign(message, end, nowSeconds))
}

/** Two root names and five numbers. */
const soaRdataBytes = 22
const soaBytes = 12 + soaRdataBytes

/** The messages of a connection, each behind its length. RFC 1035 section 4.2.2. */
class Messages {
  readonly #socket: Socket
  readonly #stop: AbortSignal
  readonly #whole: Buffer[] = []
  #parts: Buffer[] = []
  #bytes = 0
  #fault: string | undefined
  #wake: () => void = () => undefined
  #isOpen = false

  constructor(socket: Socket, stop: AbortSignal) {
    this.#socket = socket
    this.#stop = stop
    socket.setTimeout(inboundLimits.connectMs, () => {
      const unopened = socket.connecting ? noConnection : noHandshake
      this.fail(this.#isOpen ? idle : unopened)
    })
    socket.on(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
      this.#isOpen = true
      socket.setTimeout(inboundLimits.idleMs)
      this.#wake()
    })
    socket.on('data', (octets: Buffer) => this.#take(octets))
    socket.on('end', () => this.fail('closes the connection before the end'))
    socket.on('error', (error: NodeJS.ErrnoException) => this.fail(faultOf(error, socket)))
    stop.addEventListener('abort', this.#aborted)
  }

  readonly #aborted = (): void => this.fail(notWaitedFor)

  async opened(): Promise<Result<null, string>> {
    while (!this.#isOpen && this.#fault === undefined) await this.#news()
    return this.#fault === undefined ? ok(null) : err(this.#fault)
  }

  send(message: Uint8Array): void {
    const framed = Buffer.alloc(2 + message.length)
    framed.writeUInt16BE(message.length)
    framed.set(message, 2)
    this.#socket.write(framed)
  }

  async next(): Promise<Result<Uint8Array, string>> {
    while (this.#whole.length === 0 && this.#fault === undefined) await this.#news()
    const message = this.#whole.shift()
    if (message !== undefined) {
      if (this.#whole.length === 0) this.#socket.resume()
      return ok(message)
    }
    return err(this.#fault ?? '')
  }

  fail(fault: string): void {
    this.#fault ??= fault
    this.#wake()
  }

  end(): void {
    this.#stop.removeEventListener('abort', this.#aborted)
    this.#socket.destroy()
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #take(octets: Buffer): void {
    this.#parts.push(octets)
    this.#bytes += octets.length
    if (this.#bytes < 2) return
    let rest = this.#parts.length === 1 ? octets : Buffer.concat(this.#parts)
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE()) {
      const end = 2 + rest.readUInt16BE()
      this.#whole.push(rest.subarray(2, end))
      rest = rest.subarray(end)
    }
    this.#parts = [rest]
    this.#bytes = rest.length
    // What is not read yet waits in the kernel, not here.
    if (this.#whole.length > 0) {
      this.#socket.pause()
      this.#wake()
    }
  }
}

const notWaitedFor = 'is not waited for: it is no primary server any more, or this node stops'
const idle = `sends nothing for ${inboundLimits.idleMs / 1_000} s`
const noHandshake = `ends no TLS handshake within ${inboundLimits.connectMs / 1_000} s`
const noConnection = `does not take a connection within ${inboundLimits.connectMs / 1_000} s`

function faultOf({ code, message }: NodeJS.ErrnoException, socket: Socket): string {
  if (code === 'ECONNREFUSED') return 'refuses the connection'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'has a certificate for another name'
  // Set by Node before it ends the connection, and never cleared.
  const reason = socket instanceof TLSSocket ? (socket.authorizationError as unknown) : undefined
  if (typeof reason === 'string' && reason === code) {
    return `has a certificate that is not believed (${code}): see NODE_EXTRA_CA_CERTS`
  }
  return `cannot be reached (${code ?? message})`
}
