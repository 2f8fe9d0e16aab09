// Notifies systemd that the node runs, stops, and is alive: sd_notify(3).
import { Buffer } from 'node:buffer'
import { openLibc } from '#system/sockets/libc.ts'
import { variable } from '#system/process/command.ts'
import type { Io } from '#system/process/command.ts'

export interface Supervisor {
  readonly ready: () => void
  readonly stopping: () => void
  /** Announces another process of the unit as the one to watch. */
  readonly replacedBy: (pid: number) => void
  /** Environment by which another process of the unit reaches the same supervisor. */
  readonly variables: Readonly<Record<string, string>>
}

/** AF_UNIX of socket(2) on Linux. */
const unixDomain = 1
const datagram = 2
const closeOnExec = 0o2000000
/** MSG_DONTWAIT of send(2): a socket that nobody reads must not block the node. */
const dontWait = 0x40
const noSignal = 0x4000
/** Length of the path in struct sockaddr_un. */
const pathBytesMax = 108

const nobody: Supervisor = {
  ready: () => undefined,
  stopping: () => undefined,
  replacedBy: () => undefined,
  variables: {},
}

/** Returns a supervisor that does nothing where there is none, or none that can be reached. */
export function openSupervisor(env: Io['env'], pid = process.pid): Supervisor {
  const address = addressOf(variable(env, 'NOTIFY_SOCKET') ?? '')
  if (address === undefined) return nobody
  const send = senderTo(address)
  return {
    ready: () => {
      send('READY=1\nSTATUS=gslbd is running')
      const periodMs = watchdogMs(env, pid)
      if (periodMs > 0) setInterval(() => send('WATCHDOG=1'), periodMs / 3).unref()
    },
    stopping: () => send('STOPPING=1\nSTATUS=gslbd is stopping'),
    replacedBy: (successor) => send(`MAINPID=${successor}\nSTATUS=gslbd was replaced`),
    variables: variablesOf(env),
  }
}

/** Without WATCHDOG_PID, which names this process. */
function variablesOf(env: Io['env']): Readonly<Record<string, string>> {
  const names = ['NOTIFY_SOCKET', 'WATCHDOG_USEC']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = variable(env, name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/**
 * struct sockaddr_un for a path, or for `@` and an abstract name; undefined: the address is
 * invalid.
 */
function addressOf(path: string): Buffer | undefined {
  const name = Buffer.from(path.startsWith('@') ? `\0${path.slice(1)}` : path)
  const isUsable = /^[/@]./.test(path) && name.length < pathBytesMax
  if (!isUsable || process.platform !== 'linux') return undefined
  const address = Buffer.alloc(2 + name.length + (path.startsWith('@') ? 0 : 1))
  address.writeUInt16LE(unixDomain)
  address.set(name, 2)
  return address
}

/** Period of WATCHDOG_USEC, if WATCHDOG_PID is this process; 0: no sign of life is expected. */
function watchdogMs(env: Io['env'], pid: number): number {
  const forPid = variable(env, 'WATCHDOG_PID') ?? String(pid)
  const micros = variable(env, 'WATCHDOG_USEC') ?? ''
  return forPid === String(pid) && /^\d{1,15}$/.test(micros) ? Number(micros) / 1_000 : 0
}

function senderTo(address: Buffer): (text: string) => void {
  return (text) => {
    try {
      const { bindTo } = openLibc()
      const socket = bindTo<(...numbers: number[]) => number>('int socket(int, int, int)')
      const close = bindTo<(fd: number) => number>('int close(int)')
      const sendto = bindTo<
        (
          fd: number,
          text: Buffer,
          length: number,
          flags: number,
          to: Buffer,
          size: number,
        ) => number
      >('long sendto(int, void *, size_t, int, void *, unsigned int)')
      const fd = socket(unixDomain, datagram | closeOnExec, 0)
      if (fd < 0) return
      const octets = Buffer.from(text)
      sendto(fd, octets, octets.length, dontWait | noSignal, address, address.length)
      close(fd)
    } catch {
      // Without koffi the node runs as well, but systemd waits in vain: Type=notify needs it.
    }
  }
}
