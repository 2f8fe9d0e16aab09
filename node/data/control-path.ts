// The path of a socket in a data directory, short enough for the system. unix(7)
import { closeSync, constants, openSync } from 'node:fs'

/** In the data directory: where the successor of a process asks for its sockets. */
export const controlName = 'control.sock'

export interface ControlPath {
  readonly path: string
  readonly close: () => void
}

/**
 * A path of a socket has at most 107 octets, and data directories have longer ones: it goes through
 * a descriptor of the directory.
 *
 * @throws the file system's error
 */
export function openControlPath(dataDir: string, name = controlName): ControlPath {
  const fd = openSync(dataDir, constants.O_RDONLY | constants.O_DIRECTORY)
  return { path: `/proc/self/fd/${fd}/${name}`, close: () => closeSync(fd) }
}
