// Watches files and folders for changes: by file-system events, and by polling five times a second.
import { statSync, watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { dirname } from 'node:path'

interface PathWatch {
  readonly close: () => void
}

const statEveryMs = 200

/**
 * Calls `onChange` when one of `paths` (files or folders, which need not exist) is made, replaced
 * or removed. Several changes may come as one call.
 */
export function watchPaths(paths: readonly string[], onChange: () => void): PathWatch {
  let seen = fingerprint(paths)
  const look = (): void => {
    const now = fingerprint(paths)
    if (now === seen) return
    seen = now
    onChange()
  }
  const watchers = Array.from(new Set(paths.map(dirname)), (folder) => watchFolder(folder, look))
  // A poll beside the system's watch, which is missing on network file systems, may be late, and
  // does not follow a folder that is made again.
  const timer = setInterval(look, statEveryMs)
  return {
    close() {
      clearInterval(timer)
      for (const watcher of watchers) watcher?.close()
    },
  }
}

function watchFolder(folder: string, look: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, look)
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return undefined
  }
}

function fingerprint(paths: readonly string[]): string {
  return paths.map(fingerprintOf).join(' ')
}

/** A rename gives a new inode, a write a new time; both are compared, as clocks are coarse. */
function fingerprintOf(path: string): string {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stat === undefined ? '-' : `${stat.ino}:${stat.mtimeNs}:${stat.size}`
  } catch (error) {
    // The error is part of the fingerprint. The reader of the file reports it in the status.
    return (error as NodeJS.ErrnoException).code ?? '?'
  }
}
