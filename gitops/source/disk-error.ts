// Explains errors of the file system to the operator: full disk, missing rights, failing device.
import type { SourceError } from './config-source.ts'

const full: readonly string[] = ['ENOSPC', 'EDQUOT']

/** Errors of the network have a system call, too. */
const network = /^E(CONN|NOTFOUND|AI_|PIPE|TIMEDOUT|NET|HOST|ADDR)/

/** @returns undefined when the error is not the file system's. */
export function diskError(error: unknown): SourceError | undefined {
  const { code = '', message: said, syscall } = error as NodeJS.ErrnoException
  if (syscall === undefined || network.test(code)) return undefined
  // Temporary names differ at each try; without them, the log shows the same reason only once.
  const message = said.replaceAll(/[._][0-9a-f]{12}(\.tmp)?(?='|$)/g, '')
  if (full.includes(code)) {
    return {
      code: 'DiskFull',
      reason:
        `The disk of the data directory is full: ${message}. Make room; what was accepted goes ` +
        'on serving, and the node tries again by itself.',
    }
  }
  if (code === 'EROFS') {
    return {
      code: 'Unreadable',
      reason:
        `The file system of the data directory or the repository is read-only: ${message}. Make ` +
        'it writable; what was accepted goes on serving, and the node tries again by itself.',
    }
  }
  return {
    code: 'Unreadable',
    reason:
      `The data directory or the repository cannot be used: ${message}. Check owner and mode; ` +
      'what was accepted goes on serving, and the node tries again by itself.',
  }
}
