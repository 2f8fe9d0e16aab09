// Serves the socket in the data directory where the hook of a push asks for the verdict.
import { realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { openLineSocket } from '#process/data/line-socket.ts'
import type { LineSocket } from '#process/data/line-socket.ts'
import type { PushedHead } from '#gitops/sync/push-judge.ts'
import type { Stop } from '#gitops/sync/steps.ts'
import type { Log } from '#lib/log.ts'
import { pushBytesMax, pushSocketName, readPushedHead } from './messages.ts'

interface PushSocketParts {
  readonly dataDir: string
  /** The repository that receives the push. */
  readonly gitdir: string
  /** null: it cannot be judged now. */
  readonly judge: (push: PushedHead) => Promise<Stop | null>
  readonly log: Log
}

/** Without sockets in the data directory there is no server: hooks judge by themselves. */
export function openPushSocket(parts: PushSocketParts): LineSocket {
  const { dataDir, gitdir, judge, log } = parts
  return openLineSocket({
    ...{ dataDir, name: pushSocketName, bytesMax: pushBytesMax.question },
    answer: async (line) => {
      const question = readPushedHead(line)
      if (!question.ok || !isInside(question.value, gitdir)) return undefined
      return JSON.stringify(await judge(question.value))
    },
    onFault: (error) => log.warn({ err: error }, noSocket),
  })
}

const noSocket = 'pushes are judged by a process of their own, which takes longer'

/** Git puts the objects of a push into a folder of the repository: no other folder is read. */
function isInside({ incoming }: PushedHead, gitdir: string): boolean {
  if (incoming === null) return true
  try {
    return realpathSync(incoming).startsWith(join(realpathSync(gitdir), 'objects', sep))
  } catch {
    return false
  }
}
