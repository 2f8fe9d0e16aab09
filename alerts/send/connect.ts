// Connects by TCP to a host that a tenant has named, for a protocol other than HTTP.
import { connect, isIP } from 'node:net'
import type { LookupFunction, Socket } from 'node:net'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { openAddresses } from './open-addresses.ts'
import type { Way } from './post.ts'

interface OpenConnection {
  readonly socket: Socket
  /** As in `OpenAddresses`. */
  readonly areListed: boolean
  /** Whether the time was over before the connection was closed. */
  readonly isLate: () => boolean
  /** Closes the connection; to be called in any case. */
  readonly stop: () => void
}

/** Cuts the connection off after `timeoutMs`. Errors: a sentence. */
export async function connectTo(
  host: string,
  port: number,
  way: Way,
  timeoutMs: number,
): Promise<Result<OpenConnection, string>> {
  const deadline = AbortSignal.timeout(timeoutMs)
  const late = new Promise<'late'>((resolve) => {
    deadline.addEventListener('abort', () => resolve('late'), { once: true })
  })
  const open = await Promise.race([openAddresses(host, way.lookUp, way.allowed), late])
  if (open === 'late') return err(`the host name was not looked up within ${timeoutMs} ms`)
  if (!open.ok) return open
  const checked = open.value.addresses.map((address) => ({ address, family: isIP(address) }))
  const lookup: LookupFunction = (_host, { all }, give) => {
    if (all === true) give(null, checked)
    else give(null, checked[0]!.address, checked[0]!.family)
  }
  const socket = connect({ host, port, lookup, autoSelectFamily: true })
  const stop = (): void => void socket.destroy()
  deadline.addEventListener('abort', stop, { once: true })
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  socket.once('connect', () => resolve(undefined)).once('error', reject)
  // The caller adds its own handlers; an error after the end must not end the process.
  socket.on('error', () => undefined).once('close', () => reject(new Error('closed')))
  try {
    await promise
  } catch (error) {
    stop()
    if (deadline.aborted) return err(`no connection within ${timeoutMs} ms`)
    return err(`no connection (${(error as NodeJS.ErrnoException).code ?? 'failed'})`)
  }
  const isLate = (): boolean => deadline.aborted
  return ok({ socket, areListed: open.value.areListed, isLate, stop })
}
