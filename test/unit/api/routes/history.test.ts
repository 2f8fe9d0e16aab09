import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { strictPolicy } from '#compiler/values/health-check-policy.ts'
import { historyLimits } from '#config/history.ts'
import { ok } from '#lib/result.ts'
import type { CommitActivation, HeldCommit } from '#state/ports/commit-records.ts'
import type { LicenceGate, LicensedFeature } from '#licence/gate.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { Answered, ConfigWorld } from '#test/support/config-world.ts'
import { runProgram } from '#test/support/run-program.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { startingStatus } from '#test/support/gitops-status.ts'
import { portOf } from '#test/support/port-of.ts'
import type { ServerPorts } from '#api/server/app.ts'
import { anySession, anyUser, plainView } from '#test/support/api-ports.ts'

interface Commit {
  readonly commit: string
  readonly parent: string | null
  readonly author: string
  readonly time: number
  readonly subject: string
  readonly isActive: boolean
  readonly isPartial: boolean
  readonly objects: readonly {
    readonly kind: string
    readonly id: string
    readonly name: string
    readonly change: string
    readonly fields?: readonly unknown[]
  }[]
}

/** Session of an administrator of the tenant acme. */
const session = 's'.repeat(43)
const user = { ...anyUser, role: 'tenant_admin' }

const unlicensed = new Set<LicensedFeature>()
let membersMax = Infinity
/** What the role of the session may; null: it is the built-in one. */
let permissions: readonly string[] | null = null
const corrector = {
  ...{ id: 'r1', name: 'tenant_admin', isSystem: false, tenantId: 'acme' },
  ...{ createdAtMs: 0, updatedAtMs: 0 },
}
const licence: LicenceGate = {
  refusal: (feature) => (unlicensed.has(feature) ? `no licence for ${feature}` : undefined),
  memberLimit: () => ({ membersMax, refusal: 'too many members for the licence' }),
}

const activations: CommitActivation[] = []
const held: HeldCommit[] = []
const commitFates = { activationsOf: async () => activations, heldCommits: async () => held }

let world: ConfigWorld
beforeAll(async () => {
  const gitops = () => ({ ...startingStatus, active: world.git('rev-parse', 'main') })
  const view = { ...plainView, gitops }
  const ports: Partial<ServerPorts> = {
    ...{ view, licence, commitFates },
    sessions: portOf('sessions', { find: async () => ok(anySession) }),
    users: portOf('users', { find: async () => ok(user) }),
    roles: portOf('roles', {
      findByName: async () => ok(permissions === null ? null : { ...corrector, permissions }),
    }),
  }
  world = await startConfigWorld({
    ports,
    checkPolicy: { ...strictPolicy, allowScriptChecks: true },
  })
})
afterEach(() => {
  unlicensed.clear()
  membersMax = Infinity
  permissions = null
  world.ports.identities.forget()
  activations.length = 0
  held.length = 0
})
afterAll(() => world.close())

const call = (method: string, path: string, body?: unknown, tenant = 'acme') =>
  world.call(tenant === 'root' ? rootKey : keyOf(tenant), method, path, body)
const admin = (method: string, path: string, body?: unknown) => call(method, path, body, 'root')
const history = async (path = '/history', tenant = 'root') =>
  (await call('GET', path, undefined, tenant)).list as unknown as readonly Commit[]
const head = (): string => world.git('rev-parse', 'main')
/** Commits as a person called ann. */
async function commitByHand(
  files: readonly (readonly [path: string, text: string])[],
  subject: string,
): Promise<string> {
  const dataOf = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`
  const changes = files.map(([path, text]) => `M 100644 inline ${path}\n${dataOf(text)}`)
  const person = `committer ann <ann@example.com> ${Math.floor(Date.now() / 1_000)} +0000\n`
  runProgram('git', ['-C', world.gitdir, 'fast-import', '--quiet'], {
    input: [
      ...['commit refs/heads/main\n', person, dataOf(subject)],
      ...['from refs/heads/main^0\n', ...changes],
    ].join(''),
  })
  const commit = head()
  await waitUntil('the commit', () => world.ports.config.snapshot().revision === commit)
  return commit
}
const revert = (commit: string): Promise<Answered> => admin('POST', `/history/${commit}/revert`)
/** @returns the commit and the answer */
const change = async (...parts: Parameters<typeof call>) => {
  const answer = await call(...parts)
  expect(answer.status, answer.text).toBeLessThan(300)
  return { commit: head(), id: answer.body?.id }
}

let count = 0
const newPool = async (tenant = 'acme') => {
  const { id, commit } = await change('POST', '/pools', { name: `pool-${++count}` }, tenant)
  return { id: id, name: `pool-${count}`, commit }
}
const newMember = async (pool: string, ipAddress: string) =>
  (await change('POST', `/pools/${pool}/members`, { ipAddress, port: 443, weight: 10 })).id

async function renamedPool() {
  const { id } = await newPool()
  return await change('PUT', `/pools/${id}`, { name: `renamed-${count}` })
}
async function memberAdded() {
  const { id } = await newPool()
  await newMember(id, '192.0.2.1')
  return { commit: head() }
}
async function poolDeleted() {
  const { id } = await newPool()
  await newMember(id, '192.0.2.1')
  return await change('DELETE', `/pools/${id}`)
}
const redirectAdded = () =>
  change('POST', '/redirects', {
    ...{ sourceFqdn: `old-${++count}.example.com`, targetUrl: 'https://www.example.com' },
  })

describe('the history', () => {
  test('has each commit with its objects, newest first, and says which one serves', async () => {
    const pool = await newPool()
    const member = await newMember(pool.id, '192.0.2.1')
    const [newest, before] = await history()
    expect(newest).toMatchObject({
      ...{ commit: head(), parent: pool.commit, isActive: true, isPartial: false },
      objects: [{ kind: 'Pool', id: pool.id, name: pool.name, change: 'updated' }],
    })
    expect(before).toMatchObject({ commit: pool.commit, isActive: false })
    expect(before!.subject).toBe(`api: create Pool ${pool.name}`)
    const shown = await admin('GET', `/history/${head()}`)
    const [object] = (shown.body as unknown as Commit).objects
    expect(object!.fields).toEqual([
      {
        field: `members.${member}`,
        after: expect.objectContaining({ ipAddress: '192.0.2.1', weight: 10 }) as unknown,
      },
    ])
    await change('PUT', `/members/${member}`, { weight: 20 })
    const detail = (await admin('GET', `/history/${head()}`)).body as unknown as Commit
    expect(detail.objects[0]!.fields).toEqual([
      { field: `members.${member}.weight`, before: 10, after: 20 },
    ])
    expect((await history(`/pools/${pool.id}/history`)).length).toBe(3)
  })

  test('says since when which nodes answer from a commit', async () => {
    const pool = await newPool()
    activations.push(
      { node: 'one', commit: pool.commit, atMs: 1_700_000_000_900 },
      { node: 'two', commit: pool.commit, atMs: 1_700_000_002_000 },
    )
    const expected = {
      activeAt: 1_700_000_000,
      activeOn: [
        { node: 'one', since: 1_700_000_000 },
        { node: 'two', since: 1_700_000_002 },
      ],
    }
    const [newest, before] = await history()
    expect(newest).toMatchObject({ ...expected, verdict: 'accepted', code: '', heldAt: null })
    expect(before).toMatchObject({ activeAt: null, activeOn: [] })
    const detail = await call('GET', `/history/${pool.commit}`)
    expect(detail.body).toMatchObject(expected)
  })

  test('has held commits by their time, with what holds them, for who sees all', async () => {
    const pool = await newPool()
    const atMs = (await history())[0]!.time * 1_000
    const rows: readonly (readonly [string, number])[] = [
      ['e'.repeat(40), atMs + 60_000],
      ['d'.repeat(40), atMs - 365 * 24 * 3_600_000],
      // One that has passed after all.
      [pool.commit, atMs],
    ]
    for (const [commit, committedAtMs] of rows) {
      const why = { code: 'Unsigned', reason: 'It is not signed.' }
      held.push({ commit, author: 'Ann', committedAtMs, ...why, heldAtMs: committedAtMs + 1_000 })
    }
    const seen = await history()
    expect(seen[0]).toMatchObject({
      ...{ commit: 'e'.repeat(40), verdict: 'held', code: 'Unsigned', reason: 'It is not signed.' },
      ...{ time: atMs / 1_000 + 60, heldAt: atMs / 1_000 + 61, objects: [], isActive: false },
    })
    expect([seen[1]!.commit, seen.at(-1)!.commit]).toEqual([pool.commit, 'd'.repeat(40)])
    // In pages, each once.
    const paged: string[] = []
    for (let cursor = '', isMore = true; isMore;) {
      const page = await admin('GET', `/history?limit=3${cursor}`)
      paged.push(...(page.list as unknown as readonly Commit[]).map(({ commit }) => commit))
      const next = page.headers['x-next-cursor']
      cursor = `&cursor=${next}`
      isMore = next !== undefined
    }
    expect(paged).toEqual(seen.map(({ commit }) => commit))
    const ofTenant = await history('/history', 'acme')
    expect(ofTenant.some(({ commit }) => commit === 'e'.repeat(40))).toBe(false)
  })

  test("has the tenant's own objects, and nothing about others", async () => {
    const own = await newPool('acme')
    const others = await newPool('zenith')
    const seen = await history('/history', 'acme')
    expect(seen.map(({ commit }) => commit)).toContain(own.commit)
    expect(seen.map(({ commit }) => commit)).not.toContain(others.commit)
    const kinds = seen.flatMap(({ objects }) => objects.map(({ kind }) => kind))
    expect(kinds).not.toContain('Tenant')
    for (const [method, path] of [
      ['GET', `/history/${others.commit}`],
      ['GET', `/pools/${others.id}/history`],
      ['GET', `/history/${'0'.repeat(40)}`],
      ['GET', '/history/main'],
    ] as const) {
      expect((await call(method, path)).status).toBe(404)
    }
    const short = own.commit.slice(0, 10)
    for (const answer of [await call('GET', `/history/${short}`), await revert(short)]) {
      const error = expect.stringContaining('write all 40 digits') as string
      expect(answer).toMatchObject({ status: 404, body: { error } })
    }
  })

  test('shows each tenant only its part of a commit about several', async () => {
    const [own, others] = [await newPool('acme'), await newPool('zenith')]
    const files = [['acme', own] as const, ['zenith', others] as const].map(([tenant, pool]) => {
      const path = `tenants/${tenant}/pools/${pool.name}.yaml`
      const text = world
        .git('show', `main:${path}`)
        .replace(/spec:[^]*$/, 'spec: { minHealthy: 0 }')
      return [path, text] as const
    })
    const commit = await commitByHand(files, 'secret of zenith')
    const [seen] = await history('/history', 'acme')
    expect(seen).toMatchObject({ commit, author: 'ann <ann@example.com>', subject: '' })
    expect([seen!.isPartial, seen!.objects.map(({ name }) => name)]).toEqual([true, [own.name]])
    const detail = await call('GET', `/history/${commit}`)
    expect(detail.text).not.toContain(others.name)
    const [whole] = await history()
    expect([whole!.subject, whole!.objects.length]).toEqual(['secret of zenith', 2])
  })

  test('is paged, and a page has no gaps', async () => {
    const all = (await history()).map(({ commit }) => commit)
    const paged: string[] = []
    for (let cursor = ''; ;) {
      const answer = await admin('GET', `/history?limit=3${cursor}`)
      paged.push(...(answer.list as unknown as Commit[]).map(({ commit }) => commit))
      const next = answer.headers['x-next-cursor']
      if (next === undefined) break
      cursor = `&cursor=${next}`
    }
    expect(paged).toEqual(all)
    expect(all).toEqual(world.git('rev-list', '--first-parent', 'main').split('\n'))
    expect((await admin('GET', `/history?cursor=${'0'.repeat(40)}`)).status).toBe(404)
    const wrong = await admin('GET', '/history?cursor=x')
    expect([wrong.status, wrong.body.error]).toEqual([
      400,
      'cursor: is none that an answer of this list has given',
    ])
  })
})

describe('a revert', () => {
  const weightOf = async (member: string) => (await call('GET', `/members/${member}`)).body.weight

  test('takes back a field, and leaves what came later beside it', async () => {
    const pool = await newPool()
    const [one, two] = [
      await newMember(pool.id, '192.0.2.1'),
      await newMember(pool.id, '192.0.2.2'),
    ]
    const { commit } = await change('PUT', `/members/${one}`, { weight: 99 })
    await change('PUT', `/members/${two}`, { weight: 50 })
    const answer = await revert(commit)
    expect([answer.status, answer.headers['x-gslb-revision']]).toEqual([201, head()])
    expect([await weightOf(one), await weightOf(two)]).toEqual([10, 50])
    expect(world.git('log', '-1', '--format=%B', 'main')).toContain(`Gslb-Reverts: ${commit}`)
    const again = await revert(commit)
    expect([again.status, again.body.error]).toEqual([409, 'it has been taken back already'])
    // The revert is a commit like any other.
    expect((await revert(answer.headers['x-gslb-revision']!)).status).toBe(201)
    expect(await weightOf(one)).toBe(99)
  })

  test('is refused with the conflict when the same was changed later', async () => {
    const pool = await newPool()
    const member = await newMember(pool.id, '192.0.2.1')
    const { commit } = await change('PUT', `/members/${member}`, { weight: 20 })
    await change('PUT', `/members/${member}`, { weight: 30 })
    const before = head()
    const answer = await revert(commit)
    expect([answer.status, answer.body.error]).toEqual([
      409,
      `later changes stand in the way: Pool ${pool.name} has another weight since`,
    ])
    expect([head(), await weightOf(member)]).toEqual([before, 30])
  })

  test('brings back what was deleted, under its id, and deletes what was made', async () => {
    const pool = await newPool()
    await newMember(pool.id, '192.0.2.1')
    const made = await change('POST', '/services', {
      ...{ name: `svc-${count}`, domain: `w${count}.example.com.`, poolId: pool.id },
    })
    const gone = await change('DELETE', `/pools/${pool.id}`)
    expect((await call('GET', `/services/${made.id}`)).body.poolId).toBe(null)
    expect((await revert(gone.commit)).status).toBe(201)
    expect((await call('GET', `/pools/${pool.id}`)).body.name).toBe(pool.name)
    expect((await call('GET', `/services/${made.id}`)).body.poolId).toBe(pool.id)
    const used = await revert(pool.commit)
    expect([used.status, used.body.error]).toEqual([
      409,
      `later changes stand in the way: Pool ${pool.name} was changed since`,
    ])
    expect((await revert(made.commit)).status).toBe(201)
    expect((await call('GET', `/services/${made.id}`)).status).toBe(404)
  })

  test('is refused for a pool that a service uses meanwhile', async () => {
    const pool = await newPool()
    const domain = `u${count}.example.com.`
    await change('POST', '/services', { name: `user-${count}`, domain, poolId: pool.id })
    const answer = await revert(pool.commit)
    expect([answer.status, answer.body.error]).toEqual([
      409,
      `later changes stand in the way: Pool ${pool.name} is used by a service since`,
    ])
  })

  test('renames back after a rename, and does not exist for the first commit', async () => {
    const pool = await newPool()
    const { commit } = await change('PUT', `/pools/${pool.id}`, { name: `other-${count}` })
    expect((await revert(commit)).status).toBe(201)
    expect((await call('GET', `/pools/${pool.id}`)).body.name).toBe(pool.name)
    const first = world.git('rev-list', '--max-parents=0', 'main')
    const answer = await revert(first)
    expect([answer.status, answer.body.error]).toEqual([
      409,
      'this is the first commit: there is nothing before it to go back to',
    ])
  })

  test('is left to Git for a commit with more changes than are read', async () => {
    const pool = (name: string): string =>
      `apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: ${name} }\nspec: {}\n`
    const names = Array.from({ length: historyLimits.objectsMax + 1 }, (_, i) => `many-${i}`)
    const files = names.map((name) => [`tenants/zenith/pools/${name}.yaml`, pool(name)] as const)
    const commit = await commitByHand(files, 'many')
    const shown = await admin('GET', `/history/${commit}`)
    const { isPartial, objects } = shown.body as unknown as Commit
    expect([isPartial, objects.length]).toEqual([true, historyLimits.objectsMax])
    const answer = await revert(commit)
    expect([answer.status, answer.body.error, head()]).toEqual([
      409,
      'it changed more than the API takes back: use Git',
      commit,
    ])
  })

  test('does not put a weight back that a rollout says', async () => {
    const pool = await newPool()
    const member = await newMember(pool.id, '192.0.2.1')
    const { commit } = await change('PUT', `/members/${member}`, { weight: 60 })
    const steps = [{ weightPct: 10, holdSeconds: 600 }]
    const rollout = await change('POST', '/rollouts', { memberId: member, steps })
    const answer = await revert(commit)
    expect([answer.status, answer.body.error]).toEqual([409, expect.stringContaining(rollout.id)])
    await change('POST', `/rollouts/${rollout.id}/abort`)
    expect((await revert(commit)).status).toBe(201)
    expect(await weightOf(member)).toBe(10)
  })

  test.each(['?dryRun=true', ''])('tells the warnings that it causes%s', async (query) => {
    const { id } = await newPool()
    const { commit } = await change('DELETE', `/pools/${id}`)
    const answer = await admin('POST', `/history/${commit}/revert${query}`)
    expect([answer.status, answer.headers['x-gslb-warnings']]).toEqual([
      201,
      expect.stringMatching(/^1, .*;code=pool-empty$/),
    ])
  })

  test('is tried without being made', async () => {
    const { commit } = await newPool()
    const before = head()
    const answer = await admin('POST', `/history/${commit}/revert?dryRun=true`)
    expect([answer.status, head()]).toEqual([201, before])
  })

  test('needs history:write, which an operator has not', async () => {
    const { commit } = await newPool()
    expect((await call('POST', `/history/${commit}/revert`)).status).toBe(403)
  })

  test.each([
    ['a pool that it made', ['pool:delete'], () => newPool()],
    ['a field of a pool', ['pool:write'], async () => renamedPool()],
    ['a member', ['member:delete'], async () => memberAdded()],
    ['a pool with a member that it deleted', ['pool:write', 'member:write'], poolDeleted],
    ['a redirect', ['redirect:write'], redirectAdded],
  ])('of %s needs the permissions of that, too', async (_what, needed, make) => {
    const { commit } = await make()
    const asRole = (atoms: readonly string[]): Promise<Answered> => {
      permissions = ['history:write', ...atoms]
      world.ports.identities.forget()
      return asAdministrator(commit)
    }
    for (const lacking of needed) {
      const refusal = await asRole(needed.filter((atom) => atom !== lacking))
      const sentence = `permission denied: this needs ${lacking}`
      expect([refusal.status, refusal.body.error]).toEqual([403, sentence])
    }
    expect((await asRole(needed)).status).toBe(201)
  })

  const asAdministrator = (commit: string): Promise<Answered> =>
    world.call(session, 'POST', `/history/${commit}/revert`)

  test('brings a script check back for a system administrator alone', async () => {
    const { id } = await newPool()
    const path = `/pools/${id}/healthcheck`
    await change('PUT', path, { type: 'script', scriptContent: 'exit 0' }, 'root')
    const replaced = await change('PUT', path, { type: 'tcp' })
    const refusal = await asAdministrator(replaced.commit)
    expect([refusal.status, refusal.body.error]).toEqual([
      403,
      'admin access required: only a system administrator sets script checks',
    ])
    expect((await call('GET', path)).body).toMatchObject({ type: 'tcp' })
    // Objects that the commit left alone count as no one's change.
    await change('PUT', path, { type: 'script', scriptContent: 'exit 0' }, 'root')
    const renamed = await change('PUT', `/pools/${id}`, { name: `renamed-${count}` })
    expect((await asAdministrator(renamed.commit)).status).toBe(201)
    const gone = await change('DELETE', `/pools/${id}`)
    expect((await asAdministrator(gone.commit)).status).toBe(403)
    expect((await revert(gone.commit)).status).toBe(201)
  })

  test('brings back nothing that the licence does not permit', async () => {
    const targetUrl = 'https://www.example.com'
    const sourceFqdn = `old-${++count}.example.com`
    const redirect = await change('POST', '/redirects', { sourceFqdn, targetUrl })
    const noRedirect = await change('DELETE', `/redirects/${redirect.id}`)
    const pool = await newPool()
    const member = await newMember(pool.id, '192.0.2.1')
    await newMember(pool.id, '192.0.2.2')
    const rule = { cidr: '198.51.100.0/24', endpoint: '192.0.2.2', priority: 1 }
    const made = await change('POST', `/pools/${pool.id}/georules`, rule)
    const noRule = await change('DELETE', `/georules/${made.id}`)
    const noMember = await change('DELETE', `/members/${member}`)
    const noPool = await change('DELETE', `/pools/${pool.id}`)
    const refusedWith = async (commit: string): Promise<unknown> => {
      const answer = await revert(commit)
      return [answer.status, answer.body.error]
    }
    unlicensed.add('redirects').add('geo-rules')
    membersMax = 0
    expect(await refusedWith(noRedirect.commit)).toEqual([403, 'no licence for redirects'])
    const tooMany = [403, 'too many members for the licence']
    expect(await refusedWith(noPool.commit)).toEqual(tooMany)
    membersMax = 1
    expect((await revert(noPool.commit)).status).toBe(201)
    expect(await refusedWith(noRule.commit)).toEqual([403, 'no licence for geo-rules'])
    expect(await refusedWith(noMember.commit)).toEqual(tooMany)
    membersMax = 2
    expect((await revert(noMember.commit)).status).toBe(201)
  })
})
