// Copies descriptors of open sockets, and sends them to another process. unix(7)
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { openLibc } from './libc.ts'

/** Linux numbers; the same on x86-64 and arm64. */
const Sys = {
  AF_UNIX: 1,
  SOCK_STREAM: 1,
  SOCK_CLOEXEC: 0o2000000,
  SOL_SOCKET: 1,
  SCM_RIGHTS: 1,
  SO_RCVTIMEO: 20,
  SO_SNDTIMEO: 21,
  F_DUPFD_CLOEXEC: 1030,
  MSG_NOSIGNAL: 0x4000,
  MSG_CTRUNC: 0x8,
  MSG_CMSG_CLOEXEC: 0x40000000,
} as const

/** The kernel allows no more in one message: SCM_MAX_FD. */
export const descriptorsMax = 253
/** Size of the buffer for the octets that come with descriptors. */
const octetsMax = 65_536
const pathBytesMax = 108
/** struct msghdr and cmsghdr on a 64-bit system, in octets. */
const Message = { Bytes: 56, Iovec: 16, IovecCount: 24, Control: 32, ControlBytes: 40, Flags: 48 }
const Head = { Bytes: 16, Level: 8, Type: 12 } as const
const descriptorBytes = 4

export interface Received {
  readonly octets: Uint8Array
  readonly descriptors: readonly number[]
}

export interface Descriptors {
  /** Returns another descriptor of the same open file. Errors: that of the system */
  readonly copy: (descriptor: number) => Result<number, string>
  /** Makes `to` name the same open file as `descriptor`; what it named before is closed. */
  readonly put: (descriptor: number, to: number) => void
  readonly close: (descriptor: number) => void
  /** Connects a stream socket; each later call on it waits no longer than `patienceMs`. */
  readonly connect: (path: string, patienceMs: number) => Result<number, string>
  /** Sends octets, and copies of descriptors with them. Errors: that of the system */
  readonly send: (
    socket: number,
    octets: Uint8Array,
    descriptors: readonly number[],
  ) => Result<null, string>
  /** Waits for a message of `send`. Errors: that of the system */
  readonly receive: (socket: number) => Result<Received, string>
}

/** undefined: descriptors cannot be sent here, because of another system or without koffi. */
export function openDescriptors(): Descriptors | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    return bound()
  } catch {
    return undefined
  }
}

function bound(): Descriptors {
  const { koffi, bindTo } = openLibc()
  type Call = (...values: (number | Uint8Array)[]) => number
  const fcntl = bindTo<Call>('int fcntl(int, int, long)')
  const socket = bindTo<Call>('int socket(int, int, int)')
  const connect = bindTo<Call>('int connect(int, void *, unsigned int)')
  const setsockopt = bindTo<Call>('int setsockopt(int, int, int, void *, unsigned int)')
  const sendmsg = bindTo<Call>('long sendmsg(int, void *, int)')
  const recvmsg = bindTo<Call>('long recvmsg(int, void *, int)')
  const dup2 = bindTo<Call>('int dup2(int, int)')
  const closeOne = bindTo<Call>('int close(int)')
  const failed = (): Result<never, string> => err(nameOf(koffi.errno(), koffi.os.errno))
  const address = (octets: Uint8Array): bigint => koffi.address(octets)
  const patient = (fd: number, ms: number): void => {
    for (const option of [Sys.SO_RCVTIMEO, Sys.SO_SNDTIMEO]) {
      setsockopt(fd, Sys.SOL_SOCKET, option, timeval(ms), 16)
    }
  }
  return {
    copy: (descriptor) => {
      const copied = fcntl(descriptor, Sys.F_DUPFD_CLOEXEC, 3)
      return copied < 0 ? failed() : ok(copied)
    },
    put: (descriptor, to) => void dup2(descriptor, to),
    close: (descriptor) => void closeOne(descriptor),
    connect: (path, patienceMs) => {
      const to = unixAddress(path)
      if (to === undefined) return err('ENAMETOOLONG')
      const fd = socket(Sys.AF_UNIX, Sys.SOCK_STREAM | Sys.SOCK_CLOEXEC, 0)
      if (fd < 0) return failed()
      patient(fd, patienceMs)
      if (connect(fd, to, to.length) === 0) return ok(fd)
      const fault = failed()
      closeOne(fd)
      return fault
    },
    send: (fd, octets, descriptors) => {
      const control = controlOf(descriptors)
      const { message, keep } = messageOf(octets, control, address)
      const sent = sendmsg(fd, message, Sys.MSG_NOSIGNAL)
      keep()
      if (sent < 0) return failed()
      return sent === octets.length ? ok(null) : err('EMSGSIZE')
    },
    receive: (fd) => {
      const octets = Buffer.alloc(octetsMax)
      const control = Buffer.alloc(Head.Bytes + descriptorsMax * descriptorBytes + Head.Bytes)
      const { message, keep } = messageOf(octets, control, address)
      const count = recvmsg(fd, message, Sys.MSG_CMSG_CLOEXEC)
      keep()
      if (count < 0) return failed()
      const view = Buffer.from(message.buffer, message.byteOffset, message.length)
      const descriptors = descriptorsIn(control, Number(view.readBigUInt64LE(Message.ControlBytes)))
      const isCut = (view.readUInt32LE(Message.Flags) & Sys.MSG_CTRUNC) !== 0
      if (!isCut) return ok({ octets: octets.subarray(0, count), descriptors })
      for (const descriptor of descriptors) closeOne(descriptor)
      return err('EMFILE')
    },
  }
}

function nameOf(code: number, names: Readonly<Record<string, number>>): string {
  return Object.keys(names).find((name) => names[name] === code) ?? `errno ${code}`
}

function controlOf(descriptors: readonly number[]): Uint8Array {
  if (descriptors.length === 0) return new Uint8Array(0)
  const length = Head.Bytes + descriptors.length * descriptorBytes
  const control = Buffer.alloc(Math.ceil(length / 8) * 8)
  control.writeBigUInt64LE(BigInt(length))
  control.writeUInt32LE(Sys.SOL_SOCKET, Head.Level)
  control.writeUInt32LE(Sys.SCM_RIGHTS, Head.Type)
  for (const [i, descriptor] of descriptors.entries()) {
    control.writeUInt32LE(descriptor, Head.Bytes + i * descriptorBytes)
  }
  return control
}

function descriptorsIn(control: Buffer, bytes: number): number[] {
  if (bytes < Head.Bytes || control.readUInt32LE(Head.Type) !== Sys.SCM_RIGHTS) return []
  const end = Math.min(Number(control.readBigUInt64LE()), bytes)
  const found: number[] = []
  for (let at = Head.Bytes as number; at + descriptorBytes <= end; at += descriptorBytes) {
    found.push(control.readUInt32LE(at))
  }
  return found
}

/**
 * @returns struct msghdr; call `keep` after the system call, so that the memory that it points to
 * lives until then
 */
function messageOf(
  octets: Uint8Array,
  control: Uint8Array,
  address: (octets: Uint8Array) => bigint,
): { readonly message: Buffer; readonly keep: () => void } {
  const iovec = Buffer.alloc(16)
  iovec.writeBigUInt64LE(address(octets))
  iovec.writeBigUInt64LE(BigInt(octets.length), 8)
  const message = Buffer.alloc(Message.Bytes)
  message.writeBigUInt64LE(address(iovec), Message.Iovec)
  message.writeBigUInt64LE(1n, Message.IovecCount)
  if (control.length > 0) message.writeBigUInt64LE(address(control), Message.Control)
  message.writeBigUInt64LE(BigInt(control.length), Message.ControlBytes)
  const held = [octets, control, iovec]
  return { message, keep: () => void held.length }
}

/** Returns struct sockaddr_un; undefined when the path is too long. */
function unixAddress(path: string): Uint8Array | undefined {
  const name = Buffer.from(path)
  if (name.length >= pathBytesMax) return undefined
  const address = Buffer.alloc(2 + name.length + 1)
  address.writeUInt16LE(Sys.AF_UNIX)
  address.set(name, 2)
  return address
}

function timeval(ms: number): Uint8Array {
  const octets = Buffer.alloc(16)
  octets.writeBigInt64LE(BigInt(Math.floor(ms / 1000)))
  octets.writeBigInt64LE(BigInt((ms % 1000) * 1000), 8)
  return octets
}
