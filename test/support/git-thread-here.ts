// Runs the Git thread in a test's own thread: starting one costs more than most tests.
import { EventEmitter } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import type { GitThread } from '#gitops/thread/control.ts'
import { runGitThread } from '#gitops/thread/git-thread.ts'
import type { WorkerStart } from '#gitops/thread/git-thread.ts'

/** Copies messages, as between threads. */
export function gitThreadHere(start: WorkerStart): GitThread {
  const { port1: ours, port2: port } = new MessageChannel()
  const events = new EventEmitter()
  const end = (): void => {
    ours.close()
    events.emit('exit', 0)
  }
  ours.on('message', (message) => events.emit('message', message))
  void runGitThread({
    start: structuredClone(start),
    port,
    shrink: () => undefined,
    collect: () => undefined,
    onWrite: () => undefined,
    onEnd: end,
  }).then(() => events.emit('online'))
  const thread = {
    postMessage: (message: unknown) => ours.postMessage(message),
    terminate: async () => {
      end()
      return 0
    },
  }
  return Object.assign(events, thread) as unknown as GitThread
}
