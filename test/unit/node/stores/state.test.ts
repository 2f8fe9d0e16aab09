// Requests while the embedded database is being made.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createNodeState } from '#node/stores/state.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { placeDatabase } from '#test/support/database-template.ts'
import { tempDir } from '#test/support/temp-dir.ts'

function stateIn(dataDir: string) {
  const prepared: string[] = []
  const state = createNodeState({
    dataDir,
    databaseUrl: '',
    clock: systemClock,
    prepare: async () => {
      prepared.push('once')
      return ok(undefined)
    },
  })
  return { state, prepared }
}

const beingMade = {
  ok: false,
  error: {
    code: 'store-starting',
    message: 'the database is being made; try again in a few seconds',
  },
}

// Making one costs seconds: one is made for both promises.
test('a request begins what nobody has begun, and none waits while it is made', async () => {
  const dataDir = tempDir('state')
  const { state, prepared } = stateIn(dataDir)
  for (let i = 0; i < 3; i++) expect(await state.atOnce.users.hasAny()).toEqual(beingMade)
  expect(existsSync(join(dataDir, 'database'))).toBe(false)
  expect(state.isBeingMade()).toBe(true)
  // Work that is nobody's request waits for it.
  expect(await state.persistent.users.hasAny()).toEqual(ok(false))
  await state.begin()
  expect(await state.atOnce.users.hasAny()).toEqual(ok(false))
  expect(state.isBeingMade()).toBe(false)
  expect(prepared).toEqual(['once'])
  await state.close()
})

test('an existing database is opened for the first caller', async () => {
  const dataDir = tempDir('state')
  await placeDatabase(dataDir)
  const { state } = stateIn(dataDir)
  expect(await state.atOnce.users.hasAny()).toEqual(ok(false))
  await state.close()
})
