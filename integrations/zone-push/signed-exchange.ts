// Sends one message to a DNS server over TCP, signed with TSIG, and gives what it answers: one
// message, or those of a transfer. RFC 8945 section 5.3.
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { Flag1, Flag2, HeaderOffset } from '#dns/header.ts'
import { rcodeNames } from '#dns/rcode.ts'
import { ReplyCheck } from '#dns/tsig/check-replies.ts'
import { MessageSigner, tsigBytesMax } from '#dns/tsig/sign-message.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { readTsig } from '#dns/tsig/tsig-record.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface DnsServer {
  readonly address: string
  readonly port: number
}

interface Exchange {
  readonly server: DnsServer
  /** Without a signature. */
  readonly request: Uint8Array
  readonly key: TsigKey
  readonly clock: Pick<Clock, 'nowMs'>
  readonly signal: AbortSignal
  /** Takes each message in turn; true: it was the last one. Errors: a sentence. */
  readonly take: (message: Uint8Array) => Result<boolean, string>
}

/** Octets of all messages of an answer. */
const bytesMax = 256 * 1024 * 1024

/** Never rejects. Errors: a sentence. */
export async function exchangeSigned(exchange: Exchange): Promise<Result<null, string>> {
  const { server, signal, key, request, clock } = exchange
  const room = Buffer.concat([request, Buffer.alloc(tsigBytesMax(key))])
  const length = new MessageSigner(key).sign(room, request.length, secondsOf(clock))
  const signed = room.subarray(0, length)
  const made = readTsig(signed)
  const requestMac = made === null || made === 'malformed' ? new Uint8Array(0) : made.mac
  const check = new ReplyCheck(key, requestMac)
  const name = `${server.address} port ${server.port}`
  const socket = connect({ host: server.address, port: server.port, signal })
  const head = Buffer.alloc(2)
  head.writeUInt16BE(length)
  try {
    socket.write(Buffer.concat([head, signed]))
    return await answersOf(socket, exchange, check, name)
  } catch (error) {
    if (signal.aborted) return err(`${name} does not answer in time`)
    const { code, message } = error as NodeJS.ErrnoException
    return err(`${name} cannot be asked: ${code ?? message}`)
  } finally {
    socket.destroy()
  }
}

async function answersOf(
  socket: Socket,
  { request, take, clock }: Exchange,
  check: ReplyCheck,
  name: string,
): Promise<Result<null, string>> {
  let count = 0
  for await (const message of messagesOf(socket)) {
    count += message.length
    if (count > bytesMax) return err(`${name} sends more than ${bytesMax} octets`)
    const isAnswer =
      message.length >= HeaderOffset.End &&
      message[0] === request[0] &&
      message[1] === request[1] &&
      (message[HeaderOffset.Flags1]! & Flag1.Qr) !== 0
    if (!isAnswer) return err(`${name} answers something else`)
    const proven = check.take(message, secondsOf(clock))
    if (!proven.ok) return err(`${name} ${proven.error}${hintOf(message)}`)
    const taken = take(message)
    if (!taken.ok) return err(`${name} ${taken.error}`)
    if (!taken.value) continue
    return check.isSigned ? ok(null) : err(`${name} does not sign the end of its answer`)
  }
  return err(`${name} closes the connection without ${count === 0 ? 'an' : 'the whole'} answer`)
}

const secondsOf = (clock: Pick<Clock, 'nowMs'>): number => Math.floor(clock.nowMs() / 1_000)

/** Some servers say no more than this, unsigned, of a wrong key, secret or clock. */
function hintOf(message: Uint8Array): string {
  const rcode = message[HeaderOffset.Flags2]! & Flag2.RcodeMask
  if (rcode === 0) return ''
  const name = rcodeNames[rcode] ?? `RCODE${rcode}`
  return `: ${name}; see whether name, algorithm and secret of the key are there, and both clocks`
}

/** Messages behind their lengths. RFC 1035 section 4.2.2. */
async function* messagesOf(socket: Socket): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0
  for await (const part of socket as AsyncIterable<Buffer>) {
    parts.push(part)
    length += part.length
    // Copied once for each message, however small the parts are.
    while (length >= 2) {
      if (parts[0]!.length < 2) parts = [Buffer.concat(parts)]
      const wanted = parts[0]!.readUInt16BE(0) + 2
      if (length < wanted) break
      const all = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
      yield all.subarray(2, wanted)
      parts = all.length === wanted ? [] : [all.subarray(wanted)]
      length -= wanted
    }
  }
}
