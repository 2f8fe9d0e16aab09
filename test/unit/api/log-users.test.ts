// Lines of the log that a call causes name the account behind it, or what kind of key it had.
import { expect, test } from 'vitest'
import type { ApiPorts } from '#ports/ports.ts'
import type { WriteFailure } from '#config/operation.ts'
import { err, ok } from '#lib/result.ts'
import { apiKey, createWorld, sessionOf } from '#test/support/api-world.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { viewOf } from '#test/support/config-view.ts'

const [, adapter] = persistentAdapters[0]!
const state = useState(adapter)

const unreachable: WriteFailure = {
  ...({ code: 'unreachable', message: 'the remote is away', operation: -1 } as const),
  diagnostics: [],
}

async function scene() {
  const lines: { readonly message: string; readonly fields: object }[] = []
  const note = (fields: object, message: string): void => void lines.push({ message, fields })
  const restart = async (name: string) => {
    if (name === 'broken') throw new Error('a fault of ours')
    return ok(null)
  }
  const world = await createWorld(state(), {
    log: { info: note, warn: note, error: note },
    cluster: { restart } as unknown as ApiPorts['cluster'],
    config: viewOf(),
    configWriter: { write: async () => err(unreachable) },
  })
  const { token, userId } = await sessionOf(world, 'default', 'tenant_admin')
  const account = { userId, userEmail: `${userId}@example.com` }
  const callers = [
    { bearer: token, who: account },
    { bearer: apiKey, who: { actor: 'system' } },
  ]
  return { world, lines, callers }
}

test.each([
  ['a write that was not carried out', '/pools', { name: 'web' }, 500, 'was not carried out'],
  ['a call that failed', '/cluster/nodes/broken/restart', undefined, 500, 'api failed'],
  ['a restart', '/cluster/nodes/edge/restart', undefined, 202, 'restart of the node'],
])('%s', async (_label, path, body, status, words) => {
  const { world, lines, callers } = await scene()
  for (const { bearer, who } of callers) {
    const answer = await world.call('POST', `/api/v1${path}`, { bearer, body })
    expect(answer.status).toBe(status)
    const requestId = answer.headers['x-request-id']
    expect(lines.splice(0)).toEqual([
      {
        message: expect.stringContaining(words) as string,
        fields: expect.objectContaining({ requestId, ...who }) as object,
      },
    ])
  }
})
