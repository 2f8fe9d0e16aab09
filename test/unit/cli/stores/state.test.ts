// The stores of a node that stops while its database is made for the first time.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createNodeState } from '#cli/stores/state.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

test('a stop calls off the making of the database, and whoever waits for it is told', async () => {
  const dataDir = tempDir('stopping')
  const told: string[] = []
  const state = createNodeState({
    dataDir,
    databaseUrl: '',
    clock: systemClock,
    prepare: async () => ok(undefined),
    onStatus: ({ state }) => told.push(state),
  })
  const waiting = state.persistent.users.hasAny()
  await waitUntil('the making', () => existsSync(join(dataDir, 'database.new')))
  state.callOff()
  const message = 'The node is stopping.'
  expect(await waiting).toEqual({ ok: false, error: { code: 'store-away', message } })
  expect(state.exists()).toBe(false)
  await state.close()
  expect(readdirSync(dataDir)).toEqual([])
  expect(told).toEqual([])
})
