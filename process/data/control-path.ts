// Makes the path of a socket in a data directory short enough for the system: unix(7).
import { closeSync, constants, openSync } from 'node:fs'

/** Name of the socket where a process asks the running one for its sockets. */
const controlName = 'control.sock'

interface ControlPath {
  readonly path: string
  readonly close: () => void
}

/**
 * Paths of sockets are limited to 107 octets, and data directories may be longer: the path goes
 * through a descriptor of the directory.
 *
 * @throws the file system's error
 */
export function openControlPath(dataDir: string, name = controlName): ControlPath {
  const fd = openSync(dataDir, constants.O_RDONLY | constants.O_DIRECTORY)
  return { path: `/proc/self/fd/${fd}/${name}`, close: () => closeSync(fd) }
}
