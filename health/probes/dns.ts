// Implements the dns probe: one question over UDP, and over TCP when the answer does not fit.
import { createSocket } from 'node:dgram'
import { randomInt } from 'node:crypto'
import { connect, isIPv6 } from 'node:net'
import type { HealthCheckModel } from '#bundle/format/model.ts'
import { formatAddress, parseAddress } from '#dns/address.ts'
import { parseName } from '#dns/name.ts'
import { Rcode, rcodeNames } from '#dns/rcode.ts'
import { systemClock } from '#lib/clock.ts'
import { Attempt } from './attempt.ts'
import { healthLimits } from '#health/limits.ts'
import type { Probe, ProbeTarget } from './probe.ts'
import { answerTexts, dnsQuery, dnsTypeCodes, fitsQuery, isCut, rcodeOf } from './dns-message.ts'

export const dns: Probe = {
  run(target, report) {
    const { dnsName, dnsType, timeoutMs } = target.check
    const attempt = new Attempt(timeoutMs, report)
    const name = parseName(dnsName)
    if (name.ok) {
      // Random: with the port, which the system chooses, it is all that an attacker has to guess.
      const id = randomInt(0x1_0000)
      askUdp(target, dnsQuery(id, name.value, dnsTypeCodes[dnsType]), attempt)
    } else {
      // Deferred, since a report must not come before `run` has returned.
      queueMicrotask(() => {
        attempt.fail('dnsName is no domain name')
      })
    }
    return attempt.cancel
  },
}

function askUdp(target: ProbeTarget, query: Buffer, attempt: Attempt): void {
  const { check, ipAddress } = target
  const socket = createSocket(isIPv6(ipAddress) ? 'udp6' : 'udp4')
  let sends = 0
  let sentMs = 0
  let wrongAnswers = 0
  let isOver = false
  let again: NodeJS.Timeout | undefined
  const close = (): void => {
    if (isOver) return
    isOver = true
    clearTimeout(again)
    socket.close()
  }
  attempt.onOver(close)
  // The listener stays: an error of the socket after the end must not be unhandled.
  socket.on('error', (error) => {
    if (!isOver) attempt.fail(error)
  })
  const send = (): void => {
    if (isOver) return
    sends++
    sentMs = systemClock.monotonicMs()
    socket.send(query, (error) => {
      if (error !== null && !isOver) attempt.fail(error)
    })
    // Packets get lost: the query is sent again while there is time for an answer.
    if (sends < healthLimits.dnsSendsMax)
      again = setTimeout(send, check.timeoutMs / healthLimits.dnsSendsMax)
  }
  // A connected socket drops packets of other addresses and ports. Without a route to the member,
  // Node passes the error to the callback, and the socket is not connected.
  socket.connect(check.port, ipAddress, (error?: Error | null) => {
    if (error instanceof Error) {
      if (!isOver) attempt.fail(error)
    } else send()
  })
  socket.on('message', (message) => {
    if (isOver) return
    if (!fitsQuery(message, query)) {
      if (++wrongAnswers >= healthLimits.dnsWrongAnswersMax)
        attempt.fail('the answers do not fit the question')
      return
    }
    if (sends === 1) attempt.answeredAfter(systemClock.monotonicMs() - sentMs)
    if (!isCut(message)) judge(message, query, check, attempt)
    else {
      close()
      askTcp(target, query, attempt)
    }
  })
}

/** RFC 7766: the length of a message precedes it. */
function askTcp({ ipAddress, check }: ProbeTarget, query: Buffer, attempt: Attempt): void {
  const socket = connect({ host: ipAddress, port: check.port })
  attempt.useMember(socket)
  const pieces: Buffer[] = []
  let bytes = 0
  /** Length of the message and its prefix; unknown until the prefix has arrived. */
  let end = Infinity
  socket.once('connect', () => {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(query.length)
    socket.write(Buffer.concat([length, query]))
  })
  socket.on('data', (piece: Buffer) => {
    if (attempt.isOver) return
    pieces.push(piece)
    bytes += piece.length
    if (end === Infinity && bytes >= 2) end = 2 + Buffer.concat(pieces).readUInt16BE(0)
    if (bytes < end) return
    const message = Buffer.concat(pieces).subarray(2, end)
    if (fitsQuery(message, query)) judge(message, query, check, attempt)
    else attempt.fail('the answer over TCP does not fit the question')
  })
  socket.on('end', () => {
    attempt.fail('connection closed before a response')
  })
}

function judge(message: Buffer, query: Buffer, check: HealthCheckModel, attempt: Attempt): void {
  const rcode = rcodeOf(message)
  if (rcode !== codeOf(check.dnsRcode)) {
    attempt.fail(`DNS ${rcodeNames[rcode] ?? `RCODE${rcode}`}, expected ${check.dnsRcode}`)
  } else if (check.dnsContains === '') {
    attempt.succeed()
  } else {
    const texts = answerTexts(message, query)
    if (texts === undefined) attempt.fail('the answer is malformed')
    else if (texts.some((text) => holds(text, check))) attempt.succeed()
    else attempt.fail('no record in the answer is the one in dnsContains')
  }
}

function codeOf(name: HealthCheckModel['dnsRcode']): number {
  const code = Object.entries(rcodeNames).find(([, known]) => known === name)?.[0]
  return Number(code ?? Rcode.NoError)
}

function holds(text: string, { dnsType, dnsContains }: HealthCheckModel): boolean {
  if (dnsType === 'SOA' || dnsType === 'TXT') return text.includes(dnsContains)
  return plain(text) === plain(dnsContains)
}

/** Addresses in canonical form; names in lower case without final dot. */
function plain(text: string): string {
  const address = parseAddress(text)
  if (address.ok) return formatAddress(address.value)
  return text.toLowerCase().replace(/\.$/, '')
}
