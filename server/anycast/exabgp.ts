// Drives ExaBGP: writes its commands as lines into a named pipe that it reads.
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { AnycastDriver, DriverReply } from './driver.ts'

interface ExabgpSettings {
  /**
   * Path of a named pipe. A regular file is refused: it would take every command, and no daemon
   * would read it.
   */
  readonly pipe: string
  /** Networks, or addresses. */
  readonly routes: readonly string[]
  /** Attributes that follow a route, such as `next-hop self community [65000:53]`. */
  readonly attributes: string
}

/** ExaBGP does not reply through the pipe, so the driver cannot tell which routes it announces. */
export function createExabgpDriver(settings: ExabgpSettings): AnycastDriver {
  const say = async (verb: 'announce' | 'withdraw'): Promise<Result<DriverReply, string>> => {
    const lines = settings.routes.map(
      (route) => `${verb} route ${networkOf(route)} ${settings.attributes}\n`,
    )
    const written = write(settings.pipe, lines)
    if (!written.ok) return err(`ExaBGP at ${settings.pipe}: ${written.error}`)
    return ok({ announces: null, text: `commands written: ${lines.length}` })
  }
  return {
    announce: () => say('announce'),
    withdraw: () => say('withdraw'),
    look: async () => ok({ announces: null, text: '' }),
  }
}

const networkOf = (route: string): string =>
  route.includes('/') ? route : `${route}/${isIPv6(route) ? 128 : 32}`

/**
 * Writes without waiting. A line is shorter than PIPE_BUF, so it is written whole or not at all:
 * pipe(7)
 */
function write(path: string, lines: readonly string[]): Result<null, string> {
  const { O_WRONLY, O_NONBLOCK, O_APPEND } = constants
  try {
    const pipe = openSync(path, O_WRONLY | O_NONBLOCK | O_APPEND)
    try {
      if (fstatSync(pipe).isFile()) return err(noPipe)
      for (const line of lines) writeSync(pipe, line)
    } finally {
      closeSync(pipe)
    }
    return ok(null)
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    return err(reasons[code] ?? message)
  }
}

/** A shell that wrote to the pipe before it was made leaves such a file behind. */
const noPipe = 'it is a file and no pipe; remove it, and make the pipe with mkfifo'

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such pipe; make it with mkfifo',
  ENXIO: 'nobody reads the pipe; is ExaBGP running?',
  EAGAIN: 'the pipe is full: its reader does not read',
  EACCES: 'this user may not write into it; change its group and permissions',
}
