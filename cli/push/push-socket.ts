// The node's side: a socket in the data directory, where the hook of a push asks for the verdict.
import { chmodSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { join, sep } from 'node:path'
import { openControlPath } from '#cli/replace/control-path.ts'
import type { PushedHead } from '#gitops/sync/push-judge.ts'
import type { Stop } from '#gitops/sync/steps.ts'
import type { Log } from '#lib/log.ts'
import { pushSocketName, questionOn, readPushedHead } from './messages.ts'

export interface PushSocketParts {
  readonly dataDir: string
  /** The repository that is pushed to. */
  readonly gitdir: string
  /** null: not now. */
  readonly judge: (push: PushedHead) => Promise<Stop | null>
  readonly log: Log
}

const connectionsMax = 8
/** For a question; who asks has it ready. */
const questionMs = 5_000

/** A data directory without sockets is none: hooks judge by themselves then. */
export function openPushSocket(parts: PushSocketParts): { readonly close: () => void } {
  const { dataDir, log } = parts
  try {
    const place = openControlPath(dataDir, pushSocketName)
    const sockets = new Set<Socket>()
    let isOpen = true
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
      void answer(socket, parts)
    })
    const close = (): void => {
      if (!isOpen) return
      isOpen = false
      server.close()
      for (const socket of sockets) socket.destroy()
      rmSync(place.path, { force: true })
      place.close()
    }
    rmSync(place.path, { force: true })
    server.maxConnections = connectionsMax
    server.on('error', (error) => {
      log.warn({ err: error }, noSocket)
      close()
    })
    server.listen(place.path, () => {
      if (isOpen) chmodSync(place.path, 0o600)
    })
    return { close }
  } catch (error) {
    log.warn({ err: error }, noSocket)
    return { close: () => undefined }
  }
}

const noSocket = 'pushes are judged by a process of their own, which takes longer'

async function answer(socket: Socket, { gitdir, judge }: PushSocketParts): Promise<void> {
  const timer = setTimeout(() => socket.destroy(), questionMs)
  const question = readPushedHead((await questionOn(socket)) ?? '')
  clearTimeout(timer)
  if (!question.ok || !isInside(question.value, gitdir)) return void socket.destroy()
  const verdict = await judge(question.value)
  socket.end(`${JSON.stringify(verdict)}\n`)
}

/** Git puts what a push brings into a folder of the repository. */
function isInside({ incoming }: PushedHead, gitdir: string): boolean {
  if (incoming === null) return true
  try {
    return realpathSync(incoming).startsWith(join(realpathSync(gitdir), 'objects', sep))
  } catch {
    return false
  }
}
