// PostgreSQL that is killed and comes back, and what the state on it does meanwhile.
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { createPersistent } from '#state/persistent.ts'
import type { PersistentState } from '#state/persistent.ts'
import { startPostgres } from '#test/support/postgres-server.ts'
import type { PostgresServer } from '#test/support/postgres-server.ts'
import { codeOf, newUser, valueOf } from '#test/support/store-values.ts'
import { waitUntil } from '#test/support/wait-until.ts'

async function postgres(): Promise<PostgresServer> {
  const server = await startPostgres()
  onTestFinished(server.stop)
  return server
}

async function open({ url }: PostgresServer): Promise<PersistentState> {
  const opened = await createPersistent({ url, dataDir: '', clock: systemClock })
  if (!opened.ok) throw new Error(opened.error)
  onTestFinished(opened.value.close)
  return opened.value
}

test('nodes that start at the same moment make the schema once', async () => {
  const server = await postgres()
  const states = await Promise.all([open(server), open(server), open(server), open(server)])
  for (const state of states) expect(state.status()).toMatchObject({ state: 'up' })
  await valueOf(states[0].users.create(newUser('u1')))
  expect(await valueOf(states[3].users.hasAny())).toBe(true)
})

test('a database that is away at the start is used when it is there', async () => {
  const server = await postgres()
  await server.kill()
  const state = await open(server)
  expect(state.status()).toMatchObject({ kind: 'postgresql', state: 'away' })
  const result = await state.users.hasAny()
  expect(result).toMatchObject({ ok: false, error: { code: 'store-away' } })
  expect(JSON.stringify([result, state.status()])).not.toMatch(/secret-word|127\.0\.0\.1/)
  await server.start()
  await waitUntil('the database', async () => (await state.users.hasAny()).ok)
  expect(state.status()).toMatchObject({ state: 'up', fault: null })
})

test('killed and started again under load, it loses nothing that was acknowledged', async () => {
  const server = await postgres()
  const state = await open(server)
  const hour = '2026-11-20T19'
  let [isOver, added, failed, created] = [false, 0, 0, [] as string[]]
  const meter = async (worker: number): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const records = [{ tenantId: 'acme', period: hour, dnsQueries: 1, apiCalls: 0 }]
      const batch = { id: `${worker}-${n}`, nowMs: Date.now(), records }
      // As the job does: the same batch again, until it is known to be counted.
      while (!(await state.usage.add(batch)).ok) {
        failed++
        await delay(5)
      }
      added++
    }
  }
  const register = async (): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      if ((await state.users.create(newUser(`u${n}`))).ok) created.push(`u${n}`)
      else await delay(5)
    }
  }
  const load = Promise.all([meter(0), meter(1), meter(2), meter(3), register()])
  for (let round = 0; round < 3; round++) {
    const before = added
    await waitUntil('some batches', () => added > before + 50)
    await server.kill()
    await waitUntil('it to be missed', () => state.status().state === 'away')
    await server.start()
    await waitUntil('it to be back', () => state.status().state === 'up')
  }
  isOver = true
  await load
  expect(failed + added).toBeGreaterThan(0)
  expect(await valueOf(state.usage.range('acme', hour, hour))).toEqual([
    { tenantId: 'acme', period: hour, dnsQueries: added, apiCalls: 0 },
  ])
  const users = new Set((await valueOf(state.users.list('every-tenant'))).map(({ id }) => id))
  created = created.filter((id) => !users.has(id))
  expect(created).toEqual([])
}, 240_000)

test('more calls than can wait are refused at once', async () => {
  const state = await open(await postgres())
  const calls = Array.from({ length: 1_200 }, () => state.users.hasAny())
  const refused = (await Promise.all(calls)).filter(({ ok }) => !ok)
  expect(refused).toHaveLength(200)
  expect(await codeOf(Promise.resolve(refused[0]!))).toBe('store-away')
  expect(await valueOf(state.users.hasAny())).toBe(false)
})
