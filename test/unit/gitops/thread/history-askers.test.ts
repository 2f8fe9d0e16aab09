import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { historyLimits } from '#config/history.ts'
import { GitopsControl } from '#gitops/thread/control.ts'
import type { GitThread } from '#gitops/thread/control.ts'
import type { ToWorker } from '#gitops/thread/git-thread.ts'
import type { GitopsOptions } from '#gitops/thread/options.ts'
import { systemClock } from '#lib/clock.ts'
import { err } from '#lib/result.ts'

/** A Git thread that answers when it is told to. */
class SlowThread extends EventEmitter {
  readonly asked: number[] = []

  postMessage(message: ToWorker): void {
    if (message.kind === 'history') this.asked.push(message.id)
  }

  terminate = async (): Promise<number> => 0
}

test('a tenant that asks much of the history leaves places to others', async () => {
  const thread = new SlowThread()
  const control = new GitopsControl(
    { dataDir: '/nonexistent' } as GitopsOptions,
    {},
    systemClock,
    () => {
      setImmediate(() => thread.emit('online'))
      return thread as unknown as GitThread
    },
  )
  await control.start()
  const ask = (tenant: string | null) => control.history.changeOf('0'.repeat(40), tenant)
  const { askedPerTenantMax: most } = historyLimits
  const own = Array.from({ length: most }, () => ask('acme'))
  expect(await ask('acme')).toEqual(err('busy'))
  const others = [ask('zenith'), ask(null)]
  expect(thread.asked).toHaveLength(most + others.length)
  for (const id of thread.asked.splice(0)) {
    thread.emit('message', { kind: 'answered', id, answer: err('not-found') })
  }
  expect(await Promise.all([...own, ...others])).toContainEqual(err('not-found'))
  void ask('acme')
  expect(thread.asked).toHaveLength(1)
})
