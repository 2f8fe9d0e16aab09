// Opens a socket for echo requests, through system calls that Node does not offer.
import { getSystemErrorName } from 'node:util'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { openLibc } from '#system/sockets/libc.ts'
import type { IcmpFamily } from './icmp-packet.ts'

/** Constants of Linux, equal on x86-64 and arm64. */
const Sys = {
  SOCK_DGRAM: 2,
  SOCK_RAW: 3,
  SOCK_NONBLOCK: 0o4000,
  SOCK_CLOEXEC: 0o2000000,
  SOL_SOCKET: 1,
  SO_RCVBUF: 8,
  SOL_RAW: 255,
  ICMP_FILTER: 1,
  ICMP6_FILTER: 1,
  CLOCK_REALTIME: 0,
  SIOCGSTAMPNS: 0x8907,
} as const

const families = {
  v4: { family: 2, protocol: 1, addressBytes: 16, octetsAt: 4, octets: 4 },
  v6: { family: 10, protocol: 58, addressBytes: 28, octetsAt: 8, octets: 16 },
} as const

/** Holds the replies of a busy moment; the kernel may grant less (net.core.rmem_max). */
const receiveBufferBytes = 1 << 20
/** An IPv4 header with options, and more than any reply to one of our requests. */
const packetBytesMax = 256

interface Libc {
  readonly socket: (family: number, type: number, protocol: number) => number
  readonly setsockopt: (
    fd: number,
    level: number,
    name: number,
    value: Uint8Array,
    bytes: number,
  ) => number
  readonly sendto: (
    fd: number,
    octets: Uint8Array,
    bytes: number,
    flags: number,
    address: Uint8Array,
    addressBytes: number,
  ) => number
  readonly recvfrom: (
    fd: number,
    octets: Uint8Array,
    bytes: number,
    flags: number,
    address: Uint8Array,
    addressBytes: Uint8Array,
  ) => number
  readonly ioctl: (fd: number, request: number, value: Uint8Array) => number
  readonly clock_gettime: (clock: number, value: Uint8Array) => number
  readonly close: (fd: number) => number
  readonly errno: () => number
}

export interface Received {
  /** Valid until the next call. */
  readonly packet: Buffer
  /** Octets of the source address. Valid until the next call. */
  readonly from: Buffer
  /** When the kernel received it, by the wall clock. */
  readonly atMs: number
}

export class IcmpSocket {
  readonly family: IcmpFamily
  /** True: replies to every program of the node arrive; over IPv4 with the IP header. */
  readonly isRaw: boolean
  readonly #libc: Libc
  readonly #fd: number
  readonly #packet = Buffer.alloc(packetBytesMax)
  readonly #address: Buffer
  readonly #addressBytes = Buffer.alloc(4)
  readonly #time = Buffer.alloc(16)

  constructor(libc: Libc, fd: number, family: IcmpFamily, isRaw: boolean) {
    this.family = family
    this.isRaw = isRaw
    this.#libc = libc
    this.#fd = fd
    this.#address = Buffer.alloc(families[family].addressBytes)
    libc.setsockopt(fd, Sys.SOL_SOCKET, Sys.SO_RCVBUF, int32(receiveBufferBytes), 4)
    if (isRaw) this.#filter()
    // The first request switches on time stamps of the kernel.
    libc.ioctl(fd, Sys.SIOCGSTAMPNS, this.#time)
  }

  /** @returns time of sending, by the wall clock. Errors: a code such as `ENETUNREACH` */
  send(packet: Buffer, to: Uint8Array): Result<number, string> {
    const { family, octetsAt, addressBytes } = families[this.family]
    const address = Buffer.alloc(addressBytes)
    address.writeUInt16LE(family, 0)
    address.set(to, octetsAt)
    this.#libc.clock_gettime(Sys.CLOCK_REALTIME, this.#time)
    const atMs = milliseconds(this.#time)
    const sent = this.#libc.sendto(this.#fd, packet, packet.length, 0, address, addressBytes)
    return sent < 0 ? err(nameOf(this.#libc.errno())) : ok(atMs)
  }

  /** @returns undefined when no packet waits */
  receive(): Received | undefined {
    const { addressBytes, octetsAt, octets } = families[this.family]
    this.#addressBytes.writeInt32LE(addressBytes)
    const bytes = this.#libc.recvfrom(
      this.#fd,
      this.#packet,
      packetBytesMax,
      0,
      this.#address,
      this.#addressBytes,
    )
    if (bytes < 0) return undefined
    this.#libc.ioctl(this.#fd, Sys.SIOCGSTAMPNS, this.#time)
    return {
      packet: this.#packet.subarray(0, bytes),
      from: this.#address.subarray(octetsAt, octetsAt + octets),
      atMs: milliseconds(this.#time),
    }
  }

  close(): void {
    this.#libc.close(this.#fd)
  }

  /** Filters in the kernel, so that only echo replies arrive, not all ICMP of the node. */
  #filter(): void {
    if (this.family === 'v4') {
      this.#libc.setsockopt(this.#fd, Sys.SOL_RAW, Sys.ICMP_FILTER, int32(~1), 4)
      return
    }
    const blocked = Buffer.alloc(32, 0xff)
    blocked.writeUInt32LE(~(1 << (129 & 31)) >>> 0, 4 * (129 >>> 5))
    this.#libc.setsockopt(this.#fd, families.v6.protocol, Sys.ICMP6_FILTER, blocked, 32)
  }
}

/**
 * Opens a datagram ICMP socket, which needs no privilege where `net.ipv4.ping_group_range` includes
 * the group of this process; else a raw socket, which needs CAP_NET_RAW.
 *
 * @returns the error code of the raw socket; `koffi` where system calls are not available
 */
export function openIcmpSocket(family: IcmpFamily): Result<IcmpSocket, string> {
  libc ??= loadLibc()
  if (libc === null) return err('koffi')
  const { family: number, protocol } = families[family]
  const flags = Sys.SOCK_NONBLOCK | Sys.SOCK_CLOEXEC
  for (const type of [Sys.SOCK_DGRAM, Sys.SOCK_RAW]) {
    const fd = libc.socket(number, type | flags, protocol)
    if (fd >= 0) return ok(new IcmpSocket(libc, fd, family, type === Sys.SOCK_RAW))
  }
  return err(nameOf(libc.errno()))
}

/** undefined: not loaded yet. */
let libc: Libc | null | undefined

function loadLibc(): Libc | null {
  if (process.platform !== 'linux') return null
  try {
    const { koffi, bindTo } = openLibc()
    return {
      socket: bindTo('int socket(int, int, int)'),
      setsockopt: bindTo('int setsockopt(int, int, int, void *, unsigned int)'),
      sendto: bindTo('long sendto(int, void *, size_t, int, void *, unsigned int)'),
      recvfrom: bindTo('long recvfrom(int, void *, size_t, int, void *, void *)'),
      ioctl: bindTo('int ioctl(int, unsigned long, void *)'),
      clock_gettime: bindTo('int clock_gettime(int, void *)'),
      close: bindTo('int close(int)'),
      errno: () => koffi.errno(),
    }
  } catch {
    return null
  }
}

function nameOf(errno: number): string {
  return getSystemErrorName(-errno)
}

function milliseconds(timespec: Buffer): number {
  return Number(timespec.readBigInt64LE(0)) * 1_000 + Number(timespec.readBigInt64LE(8)) / 1e6
}

function int32(value: number): Uint8Array {
  const octets = Buffer.alloc(4)
  octets.writeInt32LE(value)
  return octets
}
