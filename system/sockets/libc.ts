// Makes system calls that Node does not offer, through koffi: batched UDP, shared ports, thread
// attributes.
import { createRequire } from 'node:module'
import type Koffi from 'koffi'

/** Linux numbers; the same on x86-64 and arm64. */
export const Sys = {
  AF_INET: 2,
  AF_INET6: 10,
  SOCK_DGRAM: 2,
  SOCK_CLOEXEC: 0o2000000,
  SOL_IP: 0,
  SOL_SOCKET: 1,
  SOL_UDP: 17,
  SOL_IPV6: 41,
  SO_RCVBUF: 8,
  SO_REUSEPORT: 15,
  SO_RCVTIMEO: 20,
  IP_PKTINFO: 8,
  IP_MTU_DISCOVER: 10,
  IP_PMTUDISC_PROBE: 3,
  IP_PMTUDISC_OMIT: 5,
  IPV6_MTU_DISCOVER: 23,
  IPV6_V6ONLY: 26,
  IPV6_RECVPKTINFO: 49,
  UDP_SEGMENT: 103,
  MSG_WAITFORONE: 0x10000,
} as const

/** Values of errno that are handled. */
export const Errno = {
  EINTR: 4,
  EIO: 5,
  EAGAIN: 11,
  EINVAL: 22,
  EMSGSIZE: 90,
} as const

export interface Libc {
  readonly socket: (family: number, type: number, protocol: number) => number
  readonly bind: (fd: number, address: Uint8Array, bytes: number) => number
  readonly setsockopt: (
    fd: number,
    level: number,
    name: number,
    value: Uint8Array,
    bytes: number,
  ) => number
  readonly getsockname: (fd: number, address: Uint8Array, bytes: Uint8Array) => number
  readonly close: (fd: number) => number
  /** `messages` is an address. Returns how many messages, or -1. */
  readonly recvmmsg: (
    fd: number,
    messages: bigint,
    count: number,
    flags: number,
    timeout: number,
  ) => number
  readonly sendmmsg: (fd: number, messages: bigint, count: number, flags: number) => number
  readonly gettid: () => number
  /** Sends a signal to a thread of this process. -1: there is no such thread, or no such call. */
  readonly signalThread: (threadId: number, signal: number) => number
  /** How the system schedules the calling thread: struct sched_attr. -1: there is no such call. */
  readonly threadAttributes: (attributes: Uint8Array) => number
  readonly setThreadAttributes: (attributes: Uint8Array) => number
  readonly errno: () => number
  /** Address of the first octet. The array must not be collected while the address is in use. */
  readonly addressOf: (octets: ArrayBufferView) => bigint
}

/**
 * Loads the C library.
 *
 * @returns a sentence where the calls are not available: another system, or no koffi
 */
export function loadLibc(): Libc | string {
  if (process.platform !== 'linux') return `batched UDP needs Linux, this is ${process.platform}`
  try {
    const { koffi, bindTo } = openLibc()
    return {
      socket: bindTo('int socket(int, int, int)'),
      bind: bindTo('int bind(int, void *, unsigned int)'),
      setsockopt: bindTo('int setsockopt(int, int, int, void *, unsigned int)'),
      getsockname: bindTo('int getsockname(int, void *, void *)'),
      close: bindTo('int close(int)'),
      recvmmsg: bindTo('int recvmmsg(int, uintptr_t, unsigned int, int, uintptr_t)'),
      sendmmsg: bindTo('int sendmmsg(int, uintptr_t, unsigned int, int)'),
      gettid: bindTo('int gettid()'),
      signalThread: bindSignalThread(bindTo),
      ...bindThreadAttributes(bindTo),
      errno: () => koffi.errno(),
      addressOf: (octets) => koffi.address(octets),
    }
  } catch (error) {
    return `batched UDP is not available: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Calls that not every C library has by name. */
const callNumbers: Readonly<Record<string, Record<'kill' | 'get' | 'set', number>>> = {
  x64: { kill: 234, get: 315, set: 314 },
  arm64: { kill: 131, get: 275, set: 274 },
}

/** tgkill(2) */
function bindSignalThread(bindTo: <F>(prototype: string) => F): Libc['signalThread'] {
  const numbers = callNumbers[process.arch]
  if (numbers === undefined) return () => -1
  const syscall = bindTo<(number: number, ...rest: number[]) => number>(
    'long syscall(long, int, int, int)',
  )
  return (threadId, signal) => syscall(numbers.kill, process.pid, threadId, signal)
}

/** sched_getattr(2) and sched_setattr(2); thread 0 is the calling one. */
function bindThreadAttributes(
  bindTo: <F>(prototype: string) => F,
): Pick<Libc, 'threadAttributes' | 'setThreadAttributes'> {
  const numbers = callNumbers[process.arch]
  if (numbers === undefined) return { threadAttributes: () => -1, setThreadAttributes: () => -1 }
  const syscall = bindTo<
    (number: number, id: number, octets: Uint8Array, ...rest: number[]) => number
  >('long syscall(long, int, void *, unsigned int, unsigned int)')
  return {
    threadAttributes: (attributes) => syscall(numbers.get, 0, attributes, attributes.length, 0),
    setThreadAttributes: (attributes) => syscall(numbers.set, 0, attributes, 0, 0),
  }
}

/** @throws when koffi was not installed for this system */
export function openLibc(): { koffi: typeof Koffi; bindTo: <F>(prototype: string) => F } {
  const koffi = createRequire(import.meta.url)('koffi') as typeof Koffi
  const libc = koffi.load(null)
  return { koffi, bindTo: <F>(prototype: string): F => libc.func(prototype) as unknown as F }
}
