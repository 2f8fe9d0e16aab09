// Takes a node's UDP socket away and gives it back: makes a responder fail from outside.
import { closeSync, openSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'
import koffi from 'koffi'

const libc = koffi.load(null)
const dup = libc.func('int dup(int)') as unknown as (fd: number) => number
const dup2 = libc.func('int dup2(int, int)') as unknown as (from: number, to: number) => number

/** The descriptors of this process that are UDP sockets on `port`. Linux. */
export function udpDescriptors(port: number): number[] {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  const rows = readFileSync('/proc/net/udp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  const inodes = rows.filter((row) => row[1]?.endsWith(`:${hexPort}`)).map((row) => row[9])
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => inodes.some((inode) => linkOf(fd) === `socket:[${inode}]`))
}

function linkOf(fd: number): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}

/**
 * Replaces the socket `fd` by a file: each receive fails, and packets to the port wait in the
 * socket until `mend`.
 */
export function breakSocket(fd: number): { readonly mend: () => void } {
  const kept = dup(fd)
  const file = openSync('/dev/null', 'r')
  dup2(file, fd)
  closeSync(file)
  return {
    mend: () => {
      dup2(kept, fd)
      closeSync(kept)
    },
  }
}
