// Tests the author of the API's commits: the account under the name that people know.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ok } from '#lib/result.ts'
import { startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'
import { portOf } from '#test/support/port-of.ts'
import { anySession, anyUser } from '#test/support/api-ports.ts'

let world: ConfigWorld
let caller = { id: '', displayName: '' }

/** @param author '' for that of an account without a name that can be written */
const rows: readonly [displayName: string, author: string][] = [
  ['Grace Hopper', 'Grace Hopper'],
  ['Ann <root@example.com>', 'Ann root@example.com'],
  ['', ''],
  ['<>', ''],
]

beforeAll(async () => {
  world = await startConfigWorld({
    ports: {
      sessions: portOf('sessions', { find: async () => ok({ ...anySession, userId: caller.id }) }),
      users: portOf('users', {
        find: async () => ok({ ...anyUser, email: 'grace@example.com', ...caller }),
      }),
      roles: portOf('roles', { findByName: async () => ok(null) }),
    },
  })
})
afterAll(() => world.close())

for (const [i, [name, author]] of rows.entries()) {
  test(`the display name "${name}", and no address of the person`, async () => {
    const userId = `0197a000-0000-7000-8000-00000000000${i}`
    caller = { id: userId, displayName: name }
    const made = await world.call(`${i}`.repeat(43), 'POST', '/pools', { name: `web-${i}` })
    expect(made.status).toBe(201)
    expect(world.git('log', '-1', '--format=%an <%ae>', 'main')).toBe(
      `${author || `user:${userId}`} <user-${userId}@users.gslbd>`,
    )
    expect(world.git('log', '-1', '--format=%B', 'main')).toContain(
      `Gslb-Actor: user:${userId} <user-${userId}@users.gslbd>`,
    )
    expect(world.git('log', '-1', '--format=%B%an%ae', 'main')).not.toContain('grace@')
  })
}
