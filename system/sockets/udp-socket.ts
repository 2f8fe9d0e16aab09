// Opens UDP sockets that share a port; responder threads get them by descriptor.
import { getSystemErrorName } from 'node:util'
import { parseAddress } from '#dns/address.ts'
import { assert } from '#lib/assert.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { Sys } from './libc.ts'
import type { Libc } from './libc.ts'
import { whyNotListening } from './listen-fault.ts'

/** Time that a responder sleeps before it looks for a new bundle or an order to stop. */
const receiveTimeoutMs = 100
/** Size of the receive buffer, for bursts; the kernel may give less (net.core.rmem_max). */
const receiveBufferBytes = 4 << 20

export interface UdpEndpoint {
  readonly fds: readonly number[]
  readonly port: number
  /** struct sockaddr, the same for all sockets of the endpoint. */
  readonly address: Uint8Array
  readonly isIpv6: boolean
  /**
   * Whether the sockets are bound to all addresses; replies must then name the address that was
   * asked.
   */
  readonly isWildcard: boolean
  readonly replyBytesMax: number
}

/** The place of one socket of an endpoint. */
export interface UdpPlace {
  readonly fd: number
  readonly endpoint: UdpEndpoint
}

/**
 * Opens `count` sockets on one address and port.
 *
 * @param port 0: the system chooses
 * @param replyBytesMax the longest reply over UDP
 * @returns an error of one sentence for the operator
 */
export function openUdpEndpoint(
  libc: Libc,
  listenAddr: string,
  port: number,
  count: number,
  replyBytesMax: number,
): Result<UdpEndpoint, string> {
  const octets = parseAddress(listenAddr)
  if (!octets.ok) return err(`dns.listenAddr: "${listenAddr}" is not an IP address`)
  const isIpv6 = octets.value.length === 16
  const isWildcard = isAnyAddress(octets.value)
  // Without SO_REUSEPORT first: it would let a second gslbd take half of the queries without a
  // word.
  const probe = openBound(libc, octets.value, port, { isShared: false, isWildcard, replyBytesMax })
  if (!probe.ok) return err(sentenceFor(probe.error, listenAddr, port))
  const chosenPort = portOf(libc, probe.value)
  libc.close(probe.value)
  const fds: number[] = []
  for (let i = 0; i < count; i++) {
    const fd = openBound(libc, octets.value, chosenPort, {
      isShared: true,
      isWildcard,
      replyBytesMax,
    })
    if (!fd.ok) {
      for (const opened of fds) libc.close(opened)
      return err(sentenceFor(fd.error, listenAddr, chosenPort))
    }
    fds.push(fd.value)
  }
  const address = socketAddress(octets.value, chosenPort)
  return ok({ fds, port: chosenPort, address, isIpv6, isWildcard, replyBytesMax })
}

/**
 * Returns an endpoint over sockets that another process has bound; queries already wait in them.
 */
export function adoptUdpEndpoint(
  libc: Libc,
  listenAddr: string,
  fds: readonly number[],
  replyBytesMax: number,
): UdpEndpoint {
  const octets = parseAddress(listenAddr)
  const [first] = fds
  assert(octets.ok && first !== undefined, 'sockets are adopted for the address they are bound to')
  const isIpv6 = octets.value.length === 16
  const isWildcard = isAnyAddress(octets.value)
  const port = portOf(libc, first)
  const address = socketAddress(octets.value, port)
  // Options follow the settings of this process.
  const options = { isShared: true, isWildcard, replyBytesMax }
  for (const fd of fds) setOptions(libc, fd, isIpv6, options)
  return { fds, port, address, isIpv6, isWildcard, replyBytesMax }
}

function isAnyAddress(octets: Uint8Array): boolean {
  return octets.every((octet) => octet === 0)
}

/** Opens another socket for the endpoint. No packet arrives there before `bindUdpSocket`. */
export function openUdpSocket(libc: Libc, endpoint: UdpEndpoint): number {
  const fd = openUnbound(libc, endpoint.isIpv6, { isShared: true, ...endpoint })
  if (fd.ok) return fd.value
  throw new Error(`no UDP socket for one more thread: ${getSystemErrorName(-fd.error)}`)
}

/**
 * Binds a socket: from now on the kernel gives it its share of the queries.
 *
 * @throws when it cannot
 */
export function bindUdpSocket(libc: Libc, { address, port }: UdpEndpoint, fd: number): void {
  if (libc.bind(fd, address, address.length) === 0) return
  const why = getSystemErrorName(-libc.errno())
  throw new Error(`the UDP socket of one more thread cannot be bound to port ${port}: ${why}`)
}

interface SocketOptions {
  readonly isShared: boolean
  readonly isWildcard: boolean
  readonly replyBytesMax: number
}

/** Longest datagram that fits every path in one piece. RFC 9715 section 3.1. */
const unfragmentedBytes = 1232

/**
 * Chooses how the kernel treats the path MTU. Replies must not be fragmented, and a forged
 * "fragmentation needed" must not change that, so the path MTU that the kernel learned is ignored.
 * Small replies have the don't-fragment bit, which also spares the kernel an identification for
 * each (2 to 3 % of a query); larger ones may be fragmented by a router.
 */
function mtuDiscoveryFor(replyBytesMax: number): number {
  return replyBytesMax <= unfragmentedBytes ? Sys.IP_PMTUDISC_PROBE : Sys.IP_PMTUDISC_OMIT
}

function openBound(
  libc: Libc,
  octets: Uint8Array,
  port: number,
  options: SocketOptions,
): Result<number, number> {
  const fd = openUnbound(libc, octets.length === 16, options)
  if (!fd.ok) return fd
  const address = socketAddress(octets, port)
  if (libc.bind(fd.value, address, address.length) === 0) return fd
  const errno = libc.errno()
  libc.close(fd.value)
  return err(errno)
}

function openUnbound(libc: Libc, isIpv6: boolean, options: SocketOptions): Result<number, number> {
  const family = isIpv6 ? Sys.AF_INET6 : Sys.AF_INET
  const fd = libc.socket(family, Sys.SOCK_DGRAM | Sys.SOCK_CLOEXEC, 0)
  if (fd < 0) return err(libc.errno())
  setOptions(libc, fd, isIpv6, options)
  return ok(fd)
}

function setOptions(
  libc: Libc,
  fd: number,
  isIpv6: boolean,
  { isShared, isWildcard, replyBytesMax }: SocketOptions,
): void {
  const set = (level: number, name: number, value: number): void => {
    libc.setsockopt(fd, level, name, int32(value), 4)
  }
  if (isShared) set(Sys.SOL_SOCKET, Sys.SO_REUSEPORT, 1)
  set(Sys.SOL_SOCKET, Sys.SO_RCVBUF, receiveBufferBytes)
  libc.setsockopt(fd, Sys.SOL_SOCKET, Sys.SO_RCVTIMEO, timeval(receiveTimeoutMs), 16)
  if (isIpv6) set(Sys.SOL_IPV6, Sys.IPV6_V6ONLY, isWildcard ? 0 : 1)
  if (isIpv6) set(Sys.SOL_IPV6, Sys.IPV6_MTU_DISCOVER, Sys.IP_PMTUDISC_OMIT)
  set(Sys.SOL_IP, Sys.IP_MTU_DISCOVER, mtuDiscoveryFor(replyBytesMax))
  if (isWildcard && isIpv6) set(Sys.SOL_IPV6, Sys.IPV6_RECVPKTINFO, 1)
  if (isWildcard && !isIpv6) set(Sys.SOL_IP, Sys.IP_PKTINFO, 1)
}

function sentenceFor(errno: number, listenAddr: string, port: number): string {
  return whyNotListening('UDP', listenAddr, port, getSystemErrorName(-errno))
}

/** struct sockaddr_in or sockaddr_in6. */
function socketAddress(octets: Uint8Array, port: number): Uint8Array {
  const isIpv6 = octets.length === 16
  const address = Buffer.alloc(isIpv6 ? 28 : 16)
  address.writeUInt16LE(isIpv6 ? Sys.AF_INET6 : Sys.AF_INET, 0)
  address.writeUInt16BE(port, 2)
  address.set(octets, isIpv6 ? 8 : 4)
  return address
}

function portOf(libc: Libc, fd: number): number {
  const address = Buffer.alloc(28)
  const bytes = int32(address.length)
  libc.getsockname(fd, address, bytes)
  return address.readUInt16BE(2)
}

function int32(value: number): Uint8Array {
  const octets = Buffer.alloc(4)
  octets.writeInt32LE(value)
  return octets
}

function timeval(ms: number): Uint8Array {
  const octets = Buffer.alloc(16)
  octets.writeBigInt64LE(BigInt(Math.floor(ms / 1000)), 0)
  octets.writeBigInt64LE(BigInt((ms % 1000) * 1000), 8)
  return octets
}
