// UDP through node:dgram, one packet at a time, for systems without batches.
import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { parseAddress } from '#dns/address.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { answer, handedOver } from '#answer/answer.ts'
import type { Tap } from '#answer/query-log/query-tap.ts'
import { whyNotListening } from '#system/sockets/listen-fault.ts'
import { Admission } from '#system/sockets/proxy-gate.ts'
import type { ProxyGate } from '#system/sockets/proxy-gate.ts'
import type { QueryBucket } from '#answer/counters/query-bucket.ts'
import type { Transaction } from '#answer/transaction.ts'

const replyBytesMax = 4096

/** Gets what `answer` leaves to the handler. @param send may be called later */
type HandOverDgram = (query: Uint8Array, send: (reply: Uint8Array) => void) => void

interface DgramAnswerer {
  readonly tx: Transaction
  readonly bucket: QueryBucket
  readonly tap: Tap
  /** Left out: there are no proxies. */
  readonly gate?: ProxyGate | undefined
}

/**
 * Answers on one socket, on the event loop of the calling thread. A reply leaves from the address
 * that the system prefers: bind to one address on a machine that has several.
 */
export async function listenDgram(
  { tx, bucket, tap, gate }: DgramAnswerer,
  listenAddr: string,
  port: number,
  handOver: HandOverDgram,
): Promise<Result<{ socket: Socket; port: number }, string>> {
  const socket = createSocket({
    type: isIPv6(listenAddr) ? 'udp6' : 'udp4',
    recvBufferSize: 4 << 20,
  })
  const fault = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    socket.once('error', resolve)
    socket.bind({ address: listenAddr, port, exclusive: true }, () => {
      socket.off('error', resolve)
      resolve(undefined)
    })
  })
  if (fault !== undefined) {
    socket.close()
    return err(whyNotListening('UDP', listenAddr, port, fault.code ?? fault.message))
  }
  socket.on('error', () => tx.counters.sendErrors(1))
  socket.on('message', (datagram, from) => {
    if (from.port === 0) return
    const sender = parseAddress(from.address.split('%')[0]!)
    if (!sender.ok) return
    const opened = { query: datagram, address: sender.value, port: from.port }
    const {
      query,
      address,
      port: clientPort,
    } = gate === undefined ? opened : openDatagram(gate, opened)
    tx.source = address
    tx.sourceBytes = address.length
    const reply = Buffer.allocUnsafe(replyBytesMax)
    tx.tokens = bucket.take(1)
    tx.limiter?.startBatch()
    const isTapped = tap.first(1) === 0
    if (isTapped) tap.asked(tx, query, 0, query.length, clientPort)
    const length = answer(tx, query, 0, query.length, reply, 0, reply.length)
    if (isTapped) tap.answered(tx, reply, 0, length)
    bucket.giveBack(tx.tokens)
    // A failed send is the client's to notice: it asks again.
    const send = (octets: Uint8Array): void => {
      socket.send(octets, from.port, from.address, (error) => {
        if (error !== null) tx.counters.sendErrors(1)
      })
    }
    if (length === handedOver) handOver(query, send)
    else if (length > 0) send(reply.subarray(0, length))
  })
  return ok({ socket, port: socket.address().port })
}

interface OpenedDatagram {
  readonly query: Uint8Array
  /** 4 or 16 octets. */
  readonly address: Uint8Array
  readonly port: number
}

/** Takes off the PROXY header. The query is empty where it is refused. */
function openDatagram(gate: ProxyGate, datagram: OpenedDatagram): OpenedDatagram {
  const { query, address } = datagram
  const isProxy = gate.isProxy(address, 0, address.length)
  const taken = gate.admitDatagram(query, 0, query.length, isProxy)
  if (taken === Admission.Refused) return { ...datagram, query: query.subarray(0, 0) }
  const { header } = gate
  const message = { ...datagram, query: query.subarray(taken) }
  if (taken === 0 || !header.isClient) return message
  return { ...message, address: header.address, port: header.port }
}
