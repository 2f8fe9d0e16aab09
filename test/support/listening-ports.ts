// TCP ports on which a process listens, from the kernel's tables.
import { readFileSync, readdirSync, readlinkSync } from 'node:fs'

export function listeningPorts(pid: number): number[] {
  const own = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => socketInode(pid, fd)))
  const rows = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1),
  )
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode] = row.trim().split(/\s+/)
    const isOurs = state === '0A' && inode !== undefined && own.has(inode)
    return isOurs ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : []
  })
}

/** Undefined for anything but a socket, and for descriptors closed since the listing. */
function socketInode(pid: number, fd: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]
  } catch {
    return undefined
  }
}
