// Serves the control socket of a running process, where its successor asks for its sockets.
import { chmodSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { openControlPath } from '#process/data/control-path.ts'

export interface ControlSocket {
  /** Refuses new connections; open ones stay. */
  readonly close: () => void
}

/** Connections at once. One successor is served; others get an answer that says so. */
const connectionsMax = 8

/**
 * Listens in a data directory that this process holds; an old socket there belongs to a dead
 * process.
 *
 * @throws the system's error, or passes it to `onFault` later: a file system may not support
 * sockets
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
    // Closed first, since Node removes the path through the open descriptor.
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
    // Only the owner may write to it: any writer could take the sockets over.
    if (isOpen) chmodSync(place.path, 0o600)
  })
  return { close: () => close(server) }
}
