// The control socket of a running process: where its successor asks for its sockets.
import { chmodSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { openControlPath } from '#node/data/control-path.ts'

export interface ControlSocket {
  /** Takes no more connections; those that are open stay. */
  readonly close: () => void
}

/** One successor at a time is enough; the others are told so. */
const connectionsMax = 8

/**
 * Listens in a data directory that this process holds: what lies there is left of one that died.
 *
 * @throws the system's error, also later by `onFault`: a file system may have no sockets
 */
export function openControlSocket(
  dataDir: string,
  onSuccessor: (socket: Socket) => void,
  onFault: (error: Error) => void,
): ControlSocket {
  const place = openControlPath(dataDir)
  let isOpen = true
  const close = (server: Server): void => {
    if (!isOpen) return
    isOpen = false
    // Node takes the path away as well, while the descriptor is open.
    server.close()
    rmSync(place.path, { force: true })
    place.close()
  }
  rmSync(place.path, { force: true })
  const server = createServer(onSuccessor)
  server.maxConnections = connectionsMax
  server.on('error', (error) => {
    close(server)
    onFault(error)
  })
  server.listen(place.path, () => {
    // A process that may write into it may take the sockets over.
    if (isOpen) chmodSync(place.path, 0o600)
  })
  return { close: () => close(server) }
}
