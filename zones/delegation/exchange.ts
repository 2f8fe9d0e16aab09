// Asks one server one question over UDP, and over TCP when the answer is truncated.
import { createSocket } from 'node:dgram'
import { randomInt } from 'node:crypto'
import { connect, isIPv6 } from 'node:net'
import { Flag1, HeaderOffset, QClass } from '#dns/header.ts'
import { Rcode, rcodeNames } from '#dns/rcode.ts'
import { RrType } from '#dns/rrtype.ts'
import { systemClock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { DomainFault } from '#state/ports/domains.ts'
import { fitsQuery } from '#health/probes/dns-message.ts'
import { delegationLimits } from './limits.ts'
import { readResponse } from './response.ts'
import type { Answered } from './response.ts'

/** `tcp`: at once, for answers that must be complete. */
export type Transport = 'udp-then-tcp' | 'tcp'

interface Question {
  /** Wire form. */
  readonly name: Uint8Array
  readonly type: number
}

export interface Refusal {
  readonly code: DomainFault
  /** The text after `the server …`. */
  readonly why: string
}

export type Asked = Promise<Result<Answered, Refusal>>

interface Server {
  readonly address: string
  readonly port: number
}

const silent = { code: 'no-answer', why: 'does not answer in time' } as const
const nonsense = { code: 'bad-answer', why: 'answers nonsense' } as const

/** Never rejects. Errors: the fault of the answer, or its absence. */
export async function askServer(
  server: Server,
  question: Question,
  timeoutMs: number,
  transport: Transport = 'udp-then-tcp',
): Asked {
  // Sockets use real time, in tests too.
  const endMs = systemClock.monotonicMs() + timeoutMs
  const left = (): number => Math.max(endMs - systemClock.monotonicMs(), 1)
  const withEdns = await askOnce(server, question, true, left, transport)
  // RFC 6891 section 7: a server without EDNS answers FORMERR, some NOTIMP.
  const isPuzzled =
    withEdns.ok && [Rcode.FormErr, Rcode.NotImp].some((code) => code === withEdns.value.rcode)
  const answered = isPuzzled ? await askOnce(server, question, false, left, transport) : withEdns
  if (!answered.ok) return answered
  const { rcode } = answered.value
  if (rcode === Rcode.NoError || rcode === Rcode.NXDomain) return answered
  return err({ code: 'refused', why: `answers ${rcodeNames[rcode] ?? `RCODE${rcode}`}` })
}

async function askOnce(
  server: Server,
  question: Question,
  hasEdns: boolean,
  left: () => number,
  transport: Transport,
): Asked {
  const query = queryOf(question, hasEdns)
  if (transport === 'udp-then-tcp') {
    const overUdp = await judged(udp(server, query, left()), query)
    if (!overUdp.ok || !overUdp.value.isCut) return overUdp
  }
  const overTcp = await judged(tcp(server, query, left()), query)
  if (!overTcp.ok || !overTcp.value.isCut) return overTcp
  return err({ code: 'bad-answer', why: 'cuts its answer short, over TCP too' })
}

interface Query {
  readonly octets: Buffer
  /** Header and question, which the reply repeats. */
  readonly asked: Buffer
}

/** Not recursive: only the server's own knowledge is wanted. */
function queryOf({ name, type }: Question, hasEdns: boolean): Query {
  const end = HeaderOffset.End + name.length + 4
  const octets = Buffer.alloc(end + (hasEdns ? 11 : 0))
  octets.writeUInt16BE(randomInt(0x1_0000), HeaderOffset.Id)
  octets.writeUInt16BE(1, HeaderOffset.QdCount)
  octets.set(name, HeaderOffset.End)
  octets.writeUInt16BE(type, end - 4)
  octets.writeUInt16BE(QClass.In, end - 2)
  if (hasEdns) {
    octets.writeUInt16BE(1, HeaderOffset.ArCount)
    octets.writeUInt16BE(RrType.OPT, end + 1)
    octets.writeUInt16BE(delegationLimits.udpBytes, end + 3)
  }
  return { octets, asked: octets.subarray(0, end) }
}

async function judged(got: Promise<Result<Buffer, Refusal>>, { asked }: Query): Asked {
  const message = await got
  if (!message.ok) return message
  // A truncated message may end anywhere (RFC 2181 section 9).
  const isCut = (message.value[HeaderOffset.Flags1]! & Flag1.Tc) !== 0
  const answered = readResponse(message.value, asked.length)
  if (answered !== undefined) return ok(answered)
  if (!isCut) return err(nonsense)
  const none = { answer: [], authority: [], additional: [] }
  return ok({ rcode: Rcode.NoError, isAuthoritative: false, isCut, ...none })
}

type Got = Result<Buffer, Refusal>

function udp({ address, port }: Server, query: Query, timeoutMs: number): Promise<Got> {
  return new Promise((resolve) => {
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
    let wrongAnswers = 0
    let isOver = false
    const end = (result: Got): void => {
      if (isOver) return
      isOver = true
      clearTimeout(late)
      clearTimeout(again)
      socket.close()
      resolve(result)
    }
    // A wrong answer is a better report than none.
    const late = setTimeout(() => end(err(wrongAnswers > 0 ? nonsense : silent)), timeoutMs)
    const send = (): void => {
      if (!isOver) socket.send(query.octets, (error) => error !== null && end(err(silent)))
    }
    const again = setTimeout(send, delegationLimits.againMs)
    socket.on('error', () => end(err(silent)))
    socket.on('message', (message: Buffer) => {
      if (fitsQuery(message, query.asked)) end(ok(message))
      else if (++wrongAnswers >= delegationLimits.wrongAnswersMax) end(err(nonsense))
    })
    // Once connected, the system drops packets from other addresses and ports.
    socket.connect(port, address, (error?: Error | null) => {
      if (error instanceof Error) end(err(silent))
      else send()
    })
  })
}

/** RFC 7766; a message follows its length. */
function tcp({ address, port }: Server, query: Query, timeoutMs: number): Promise<Got> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port })
    const end = (result: Got): void => {
      clearTimeout(late)
      socket.destroy()
      resolve(result)
    }
    const noTcp = { code: 'no-answer', why: 'cuts its answer short, and does not answer over TCP' }
    const fail = (): void => end(err(noTcp as Refusal))
    const late = setTimeout(fail, timeoutMs)
    const pieces: Buffer[] = []
    let bytes = 0
    /** Octets of the reply with its length prefix; Infinity until the prefix is complete. */
    let wanted = Infinity
    socket.on('error', fail)
    socket.on('end', fail)
    socket.on('connect', () => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(query.octets.length)
      socket.write(Buffer.concat([length, query.octets]))
    })
    socket.on('data', (piece: Buffer) => {
      pieces.push(piece)
      bytes += piece.length
      if (wanted === Infinity && bytes >= 2) wanted = 2 + Buffer.concat(pieces).readUInt16BE(0)
      if (bytes < wanted) return
      const message = Buffer.concat(pieces).subarray(2, wanted)
      end(fitsQuery(message, query.asked) ? ok(message) : err(nonsense))
    })
  })
}
