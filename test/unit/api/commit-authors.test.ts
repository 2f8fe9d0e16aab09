// Whom a commit of the API names as its author: the account as people know it.
import { afterEach, expect, test } from 'vitest'
import { ok } from '#lib/result.ts'
import { startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'

let world: ConfigWorld
afterEach(() => world.close())

const userId = '0197a000-0000-7000-8000-000000000001'
const account = `user:${userId} <user-${userId}@users.gslbd>`

const rows: readonly [displayName: string, author: string][] = [
  ['Grace Hopper', `Grace Hopper <user-${userId}@users.gslbd>`],
  ['Ann <root@example.com>', `Ann root@example.com <user-${userId}@users.gslbd>`],
  ['', account],
  ['<>', account],
]
for (const [displayName, author] of rows) {
  test(`the display name "${displayName}", and no address of the person`, async () => {
    const user = { id: userId, displayName, role: 'operator', tenantId: 'acme' }
    world = await startConfigWorld({
      ports: {
        sessions: { find: async () => ok({ userId }) } as never,
        users: { find: async () => ok({ ...user, email: 'grace@example.com' }) } as never,
        roles: { findByName: async () => ok(null) } as never,
      },
    })
    const made = await world.call('s'.repeat(43), 'POST', '/pools', { name: 'web' })
    expect(made.status).toBe(201)
    expect(world.git('log', '-1', '--format=%an <%ae>', 'main')).toBe(author)
    expect(world.git('log', '-1', '--format=%B', 'main')).toContain(`Gslb-Actor: ${account}`)
    expect(world.git('log', '-1', '--format=%B%an%ae', 'main')).not.toContain('grace@')
  })
}
