// Tests that a node tells nobody anything of the configuration before it has read it.
import { rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createApp } from '#api/server/app.ts'
import { createConfigTenants } from '#api/config/tenants.ts'
import type { GitopsStatus } from '#ports/operator-view.ts'
import { operationId } from '#api/reference/openapi.ts'
import { routes } from '#api/routes.ts'
import { LiveConfigView, noConfig } from '#config/view.ts'
import { GitopsControl } from '#gitops/thread/control.ts'
import { originPath, statePathOf } from '#gitops/thread/options.ts'
import type { GitopsOptions } from '#gitops/thread/options.ts'
import { ensureOrigin } from '#gitops/source/origin.ts'
import { systemClock } from '#lib/clock.ts'
import { writerOf } from '../../support/config-world.ts'
import { portsOf } from '../../support/api-ports.ts'
import { gitSandbox } from '../../support/git-sandbox.ts'
import { startingStatus } from '../../support/gitops-status.ts'
import { newUser, valueOf } from '../../support/store-values.ts'
import { routeCases } from '../../support/route-cases.ts'
import { poolPath, poolYaml } from '../../support/site.ts'
import { waitUntil } from '../../support/wait-until.ts'
import { startWholeWorld } from '../../support/whole-world.ts'
import type { WholeWorld } from '../../support/whole-world.ts'
import { newPem, signerLine } from '../../support/write-scene.ts'

const view = new LiveConfigView()
let gitops: GitopsStatus = startingStatus
let whole: WholeWorld
const nothing = (): never => expect.unreachable('nothing is written')

beforeAll(async () => {
  whole = await startWholeWorld({
    config: view,
    tenants: createConfigTenants(view, { write: nothing }, systemClock),
    view: {
      health: () => ({ status: 'ok', reasons: [] }),
      unready: () => [],
      gitops: () => gitops,
      metrics: async () => ({ type: 'text/plain', text: '' }),
    },
  })
})
afterAll(() => whole.stop())

/** By the operation's id; all others say something of the configuration. */
const withoutConfig = [
  ...['get', 'getHealth', 'getReady', 'getGitopsStatus', 'getMetrics', 'getOpenapiJson', 'getDocs'],
  ...['postAuthSetup', 'postAuthLogin', 'postAuthLogout', 'getAuthMe', 'getAuthConfig'],
  ...['postAuthTotpSetup', 'postAuthTotpVerify', 'getAuthOidcAuthorize', 'getAuthOidcCallback'],
  ...['getAlerts', 'postAlerts', 'getAlertsById', 'putAlertsById', 'deleteAlertsById'],
  ...['postAlertsByIdTest', 'getAlertsEvents', 'getAlertsSilences', 'postAlertsSilences'],
  ...['deleteAlertsSilencesById', 'getAcmeCertificates'],
  ...['postAcmeDnsRegister', 'postAcmeDnsUpdate', 'getAcmeDnsHealth'],
  ...['getAcmeDnsKeys', 'deleteAcmeDnsKeysById'],
  ...['getDeliveries', 'postDeliveriesByChannelPause', 'postDeliveriesByChannelResume'],
  ...['postDeliveriesByChannelPromote', 'postDeliveriesByChannelAbort'],
  ...['getZoneTransfers', 'postZoneTransfersByZoneAccept'],
  ...['getDiscoverySources', 'postDiscoverySourcesByNameAccept'],
  ...['getZonePushes', 'getZonePushesByNamePlan', 'postZonePushesByNameApply'],
  ...['postSync', 'getBgp', 'getClusterNodes', 'postClusterNodesByNameRestart'],
  ...['getBundlesChannelsByName', 'postBundlesChannelsByName', 'getBundlesByDigest'],
  ...['getBundlesDeltasByDigestByFrom', 'postBundlesHealth', 'getClientRegions'],
  ...['postBundlesJournal', 'postBundlesKeys', 'postBundlesCertificate'],
  ...['getDnsTsigKeys', 'deleteDnsTsigKeysById', 'getDnsTxtRecords', 'deleteDnsTxtRecordsById'],
  ...['getDnsWrittenRecords', 'deleteDnsWrittenRecordsById'],
  ...['getUsers', 'postUsers', 'getUsersById', 'putUsersById', 'deleteUsersById'],
  ...['getRoles', 'postRoles', 'getRolesById', 'putRolesById', 'deleteRolesById'],
  ...[
    'getExplainByCode',
    'getLicense',
    'postLicense',
    'getUsage',
    'getAudit',
    'getDocsByFile',
    'getRumJs',
    'getRumConfig',
    'postRumIngest',
  ],
]
const named = routes.map((row) => [operationId(row), row] as const)
const early = named.filter(([id]) => withoutConfig.includes(id))
const late = named.filter(([id]) => !withoutConfig.includes(id))

const beingRead = { error: 'the configuration is being read; try again in a moment' }
const ask = async (actor: string, method: string, path: string, body?: unknown) =>
  whole.world.call(await whole.bearerOf(actor), method, path.replace('/api/v1', ''), body)
const pathOf = (path: string, params: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params[name] ?? 'nobody')

describe('before the configuration has been read', () => {
  test('the routes that need none are those of this list', () => {
    const marked = routes.filter((row) => row.withoutConfig === true).map(operationId)
    expect(marked.toSorted()).toEqual(withoutConfig.toSorted())
  })

  test.each(late)('%s is 503 to whoever may ask', async (id, { method, path, needs }) => {
    const answer = await ask('root', method, pathOf(path, {}), routeCases[id]?.body?.())
    expect(answer).toMatchObject({ status: 503, body: beingRead, headers: { 'retry-after': '2' } })
    // It is unknown whether the tenant acme still exists.
    for (const actor of ['acme key', 'acme operator']) {
      expect((await ask(actor, method, pathOf(path, {}))).status).toBe(503)
    }
    const bare = needs === 'public' ? 503 : 401
    for (const actor of ['nobody', 'junk']) {
      expect((await ask(actor, method, pathOf(path, {}))).status).toBe(bare)
    }
  })

  test.each(early)('%s is answered as ever', async (id, row) => {
    const { make, body, statuses } = routeCases[id]!
    const params = (await make?.(whole.world, 'default')) ?? {}
    const successes = statuses ?? Object.keys(row.responses).map(Number)
    const outside = row.path.startsWith('/api/v1') ? '' : '/../..'
    const path = `${outside}${pathOf(row.path, params)}`
    const answer = await ask('default tenant_admin', row.method, path, body?.())
    expect(successes, answer.text).toContain(answer.status)
  })

  test('an unknown route is refused as ever', async () => {
    expect((await ask('root', 'PATCH', '/pools')).status).toBe(405)
    expect((await ask('root', 'GET', '/poools')).status).toBe(404)
  })

  test('an account of a tenant is not told that the tenant is gone', async () => {
    const { ports } = whole.world
    const hash = await ports.passwords.hash('correct horse')
    if (!hash.ok) expect.unreachable('there is room')
    const logIn = async (tenantId: string, password = 'correct horse') => {
      const email = `${tenantId}-${password.length}@example.com`
      const user = newUser(email, { tenantId, email, passwordHash: hash.value })
      await valueOf(ports.users.create(user))
      return ask('nobody', 'POST', '/auth/login', { email, password })
    }
    expect(await logIn('acme')).toMatchObject({ status: 503, body: beingRead })
    expect((await logIn('acme', 'wrong')).status).toBe(401)
    expect((await logIn('default')).status).toBe(200)
    expect(await ask('acme viewer', 'GET', '/auth/me')).toMatchObject({ body: beingRead })
    const account = { ...(routeCases['postUsers']!.body!() as object), tenantId: 'acme' }
    expect(await ask('root', 'POST', '/users', account)).toMatchObject({ body: beingRead })
  })

  test('when it cannot be read, the administrator of the system is told why', async () => {
    const message = '/data/config.git has no branch "main". Push commit 0123456789 to it again.'
    const accepted = '0123456789'.repeat(4)
    const reason = { code: 'BranchMissing', message, sinceMs: 1 }
    gitops = { ...startingStatus, accepted, active: accepted, sync: 'held', reason }
    const root = await ask('root', 'GET', '/pools')
    const what = 'the configuration of commit 0123456789 cannot be read'
    const error = `${what} (BranchMissing): ${message}`
    expect(root).toMatchObject({ status: 503, body: { error }, headers: { 'retry-after': '10' } })
    const whom = 'the administrator of the system sees the reason in /api/v1/gitops/status'
    const { users } = whole.world.ports
    const account = newUser('default-operator', { tenantId: 'default', role: 'operator' })
    await valueOf(users.create(account))
    const known = await ask('default operator', 'GET', '/pools')
    expect(known).toMatchObject({ status: 503, body: { error: `${what}; ${whom}` } })
    gitops = { ...gitops, note: 'Commit 0123456789 goes back to commit 9876543210.' }
    const statusFor = async (who: string) => (await ask(who, 'GET', '/gitops/status')).body
    expect(await statusFor('root')).toMatchObject({ note: gitops.note, reason: { message } })
    const told = {
      note: null,
      reason: { message: 'the administrator of the system sees the reason' },
    }
    expect(await statusFor('default operator')).toMatchObject(told)
    // The node does not know yet who these callers are, and tells them nothing of the commit.
    const bare = { error: `the configuration cannot be read; ${whom}` }
    const key = await ask('acme key', 'GET', '/pools')
    const nobody = await ask('nobody', 'GET', '/ws')
    for (const answer of [key, nobody]) expect(answer).toMatchObject({ status: 503, body: bare })
    gitops = { ...gitops, reason: null }
    expect((await ask('root', 'GET', '/pools')).body.error).toContain('of commit 0123456789 is')
    expect((await ask('nobody', 'GET', '/ws')).body).toEqual(beingRead)
    gitops = startingStatus
  })

  test('the program does not read it', () => {
    expect(() => view.snapshot()).toThrow('before it has been read')
    expect(() => whole.world.ports.tenants.objectCount('acme')).toThrow('before it has been read')
  })
})

test('a worker that starts anew does not empty the view', () => {
  const own = new LiveConfigView()
  own.apply(noConfig)
  expect([own.isReady(), own.snapshot().revision]).toEqual([true, ''])
  const changes: string[] = []
  own.onChange(({ after }) => changes.push(after.revision))
  own.apply({ ...noConfig, revision: '1' })
  own.apply(noConfig)
  expect([own.snapshot().revision, changes]).toEqual(['1', ['1']])
})

describe('a node with a repository of its own', () => {
  const create = (
    dataDir: string,
    trusted: Partial<GitopsOptions> = {},
    onPublish: () => unknown = () => undefined,
  ) => {
    const local = { dataDir, url: '', branch: 'main', pollMs: 30_000, resume: null }
    const trust = { requireSignature: false, allowedSignersPath: '', channel: 'main', ...trusted }
    const options = { ...local, ...trust, signingKeyPem: newPem(), recordTtlMs: 3_600_000 }
    const control = new GitopsControl(options, { onPublish })
    onTestFinished(control.stop)
    const ports = portsOf({
      config: control.config,
      configWriter: writerOf(control),
      tenants: createConfigTenants(control.config, writerOf(control), systemClock),
      view: { ...whole.world.ports.view, gitops: () => startingStatus },
    })
    const app = createApp(ports, [])
    const pools = () => app.inject({ method: 'GET', url: '/api/v1/pools' })
    const make = () =>
      app.inject({ method: 'POST', url: '/api/v1/pools', payload: { name: 'web' } })
    return { control, pools, make }
  }

  /** A folder for data with an origin; its first commit comes by hand. */
  const originOf = () => {
    const box = gitSandbox()
    const gitdir = originPath(box.at('data'))
    box.write('data/allowed_signers', signerLine('alice@example.com', newPem()))
    if (!ensureOrigin(gitdir, 'main').ok) expect.unreachable('the folder can be written to')
    const push = (files: Readonly<Record<string, string>>) => {
      box.git(box.path, 'clone', '-q', gitdir, 'checkout')
      for (const [path, text] of Object.entries(files)) box.write(`checkout/${path}`, text)
      box.git(box.at('checkout'), 'add', '.')
      box.git(box.at('checkout'), 'commit', '-q', '-m', 'first')
      box.git(box.at('checkout'), 'push', '-q', 'origin', 'HEAD:main')
    }
    return { box, gitdir, push, dataDir: box.at('data') }
  }

  test('is ready when there is nothing yet; after a restart when it has read all', async () => {
    const { dataDir } = originOf()
    const first = create(dataDir)
    expect((await first.pools()).statusCode).toBe(503)
    await first.control.start()
    await waitUntil('the first look', () => first.control.config.isReady())
    expect(await first.pools()).toMatchObject({ statusCode: 200, body: '[]' })
    expect((await first.make()).statusCode).toBe(201)
    await first.control.stop()

    let activate = (): void => undefined
    const published = Promise.withResolvers<void>()
    const second = create(dataDir, {}, () => {
      published.resolve()
      return new Promise<void>((done) => (activate = done))
    })
    await second.control.start()
    await published.promise
    for (const answer of [await second.pools(), await second.make()]) {
      expect(answer.statusCode).toBe(503)
      expect(answer.json()).toEqual(beingRead)
    }
    activate()
    await waitUntil('the view', async () => (await second.pools()).statusCode === 200)
    expect((await second.pools()).json()).toMatchObject([{ name: 'web' }])
  })

  test.each([
    ['does not compile', poolYaml('300.1.1.1'), 'CompileFailed', ['address-invalid']],
    ['is not signed', poolYaml('192.0.2.1'), 'Unsigned', []],
  ])('is ready and refuses writes while a first commit %s', async (_why, text, code, codes) => {
    const { box, dataDir, push } = originOf()
    push({ [poolPath]: text })
    const allowedSignersPath = box.at('data/allowed_signers')
    const requireSignature = code === 'Unsigned'
    const { control, pools, make } = create(dataDir, { requireSignature, allowedSignersPath })
    await control.start()
    await waitUntil('the hold', () => control.status().code === code)
    expect(await pools()).toMatchObject({ statusCode: 200, body: '[]' })
    const refused = await make()
    const { reason: error } = control.status()
    const diagnostics = codes.map((name) => expect.objectContaining({ code: name }) as object)
    expect(refused.statusCode).toBe(409)
    expect(refused.json()).toEqual({ error, diagnostics })
  })

  test.each([
    [
      'BranchMissing',
      ({ gitdir }: ReturnType<typeof originOf>) => {
        rmSync(gitdir, { recursive: true })
        expect(ensureOrigin(gitdir, 'main').ok).toBe(true)
      },
    ],
    [
      'StateUnreadable',
      ({ dataDir }: ReturnType<typeof originOf>) => writeFileSync(statePathOf(dataDir), '{'),
    ],
  ])('is not ready when what it had is not known: %s', async (code, lose) => {
    const origin = originOf()
    origin.push({ [poolPath]: poolYaml('192.0.2.1') })
    const before = create(origin.dataDir)
    await before.control.start()
    await waitUntil('the view', () => before.control.config.isReady())
    await before.control.stop()
    lose(origin)
    const after = create(origin.dataDir)
    await after.control.start()
    await waitUntil('the loss', () => after.control.status().code === code)
    expect([after.control.config.isReady(), (await after.pools()).statusCode]).toEqual([false, 503])
  })
})
