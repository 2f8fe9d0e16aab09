// Writes to the origin of one node: what is in Git, what is live, and what is refused.
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { onTestFinished, test } from 'vitest'
import type { CommitResult, Operation, WriteSuccess } from '#config/operation.ts'
import { etagOf } from '#config/entry.ts'
import { ensureOrigin } from '#gitops/source/origin.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import type { GitSandbox } from '#test/support/git-sandbox.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { newPem, seedOrigin, settingsYaml, signerLine } from '#test/support/write-scene.ts'
import { startWriteScene } from '#test/support/write-scene.ts'
import type { WriteScene } from '#test/support/write-scene.ts'

const webYaml = `# The shop.
apiVersion: gslb/v1
kind: Pool
metadata: { name: web }   # as in the runbook
spec:
  members:
    # Frankfurt
    - { name: fra1, ipAddress: 192.0.2.10, port: 443 }  # the old one
    - { name: par1, ipAddress: 192.0.2.20, port: 443 }
  geoRules:
    - { cidr: 198.51.100.0/24, endpoint: 192.0.2.20 }
`
const wwwYaml = `apiVersion: gslb/v1
kind: Service
metadata: { name: www }
spec:
  domain: www.example.com.
  ttl: 60      # short, on purpose
  pool: web
`
const webPath = 'tenants/default/pools/web.yaml'
const wwwPath = 'tenants/default/services/www.yaml'

interface Scene extends WriteScene {
  readonly box: GitSandbox
  readonly gitdir: string
  readonly show: (path: string) => string
  readonly head: () => string
  readonly count: () => number
}

const usual = { 'gslb.yaml': settingsYaml, [webPath]: webYaml, [wwwPath]: wwwYaml }

/** @param more files beside the usual ones */
async function scene(
  more: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = { ...usual, ...more },
): Promise<Scene> {
  const box = gitSandbox()
  const options = { dataDir: box.at('data'), pem: newPem() }
  writeFileSync(box.at('pem'), options.pem)
  await seedOrigin(options, files)
  const started = await startWriteScene(options)
  onTestFinished(() => started.stop())
  const gitdir = box.at('data/config.git')
  return {
    ...started,
    box,
    gitdir,
    show: (path) => `${box.git(gitdir, 'show', `main:${path}`)}\n`,
    head: () => box.git(gitdir, 'rev-parse', 'main'),
    count: () => Number(box.git(gitdir, 'rev-list', '--count', 'main')),
  }
}

function success(result: CommitResult): WriteSuccess {
  assert(result.ok, JSON.stringify(result))
  return result.value
}

function failure(result: CommitResult): string {
  assert(!result.ok, 'the write is refused')
  return result.error.code
}

const tenant = 'default'
const web = { tenant, name: 'web' }
const memberOf = (at: WriteScene, name: string) => {
  const pool = at.view.snapshot().find('Pool', tenant, 'web')!
  return pool.object.spec.members.find((member) => member.name === name)!
}
const createPool = (name: string, address = '192.0.2.99'): Operation => ({
  verb: 'create',
  kind: 'Pool',
  tenant,
  name,
  spec: { members: [{ ipAddress: address, port: 80 }] },
})

test('a new pool is a signed commit by its author, published, and seen by readers', async () => {
  const at = await scene()
  const before = at.published.length
  const done = success(await at.write(createPool('New Pool/1')))
  assert.equal(done.revision, at.head())
  assert.equal(done.isChanged, true)
  const path = 'tenants/default/pools/new-pool-1.yaml'
  const entry = at.view.snapshot().find('Pool', tenant, 'New Pool/1')!
  assert.deepEqual(done.objects[0]?.entry.object, entry.object)
  assert.match(entry.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  const memberUid = entry.object.spec.members[0]!.uid
  assert.equal(
    at.show(path),
    `apiVersion: gslb/v1
kind: Pool
metadata: { name: New Pool/1, uid: ${entry.uid} }
spec:
  members:
    - { ipAddress: 192.0.2.99, port: 80, uid: ${memberUid} }
`,
  )
  assert.equal(at.view.snapshot().revision, at.head())
  assert.equal(at.published.length, before + 1)
  assert.equal(at.published.at(-1)?.commit, at.head())
  assert.deepEqual(at.prepared, [at.published.at(-1)?.bundle])
  const format = '%an <%ae>|%cn|%(trailers:only,unfold)'
  const log = at.box.git(at.gitdir, 'log', '-1', `--format=${format}`)
  assert.equal(
    log,
    `alice <user-alice@users.gslbd>|gslbd|Gslb-Operation: create Pool ${entry.uid} New Pool/1
Gslb-Actor: alice <user-alice@users.gslbd>
Gslb-Request: request-1`,
  )
  const trust = [
    '-c',
    'gpg.format=ssh',
    '-c',
    `gpg.ssh.allowedSignersFile=${at.box.at('data/allowed_signers')}`,
  ]
  at.box.git(at.gitdir, ...trust, 'verify-commit', 'main')
  at.box.git(at.gitdir, 'fsck', '--strict')
})

test('objects that git packs meanwhile are read and written to as before', async () => {
  const at = await scene()
  for (const name of ['one', 'two']) {
    success(await at.write(createPool(name)))
    at.box.git(at.gitdir, 'gc', '--quiet', '--prune=now')
  }
  assert.equal(at.count(), 3)
})

test('in a repository that was lost nothing is written: it would be all there is', async () => {
  const at = await scene()
  await at.stop()
  const [dataDir, pem] = [at.box.at('data'), readFileSync(at.box.at('pem'), 'utf8')]
  rmSync(at.gitdir, { recursive: true })
  assert(ensureOrigin(at.gitdir, 'main').ok)
  const again = await startWriteScene({ dataDir, pem })
  onTestFinished(() => again.stop())
  const refused = await again.write(createPool('only'))
  assert.equal(failure(refused), 'head-invalid')
  const { commit } = at.status().accepted!
  const remedy = new RegExp(`has no branch "main". Push commit ${commit.slice(0, 10)} to it again`)
  assert.match(refused.ok ? '' : refused.error.message, remedy)
  assert.equal(again.status().accepted?.commit, commit)
  assert.equal(at.box.git(at.gitdir, 'for-each-ref'), '')
})

test('an update of a member keeps every other line as its author wrote it', async () => {
  const at = await scene()
  const { uid } = memberOf(at, 'fra1')
  const patch = { weight: 7 }
  const done = success(
    await at.write({ verb: 'update', kind: 'Member', target: { uid: uid! }, patch }),
  )
  assert.equal(
    at.show(webPath),
    webYaml.replace('port: 443 }  # the', `port: 443, weight: 7, uid: ${uid} }  # the`),
  )
  assert.deepEqual(done.objects[0]?.part, memberOf(at, 'fra1'))
  assert.equal(memberOf(at, 'fra1').weight, 7)
})

test('a write that changes nothing makes no commit', async () => {
  const at = await scene()
  const head = at.head()
  const target = { tenant, name: 'www' }
  const update: Operation = { verb: 'update', kind: 'Service', target, patch: { ttl: 60 } }
  const explicit = { ...update, patch: { answerCount: 1 } }
  for (const operation of [update, explicit]) {
    const done = success(await at.write(operation))
    assert.deepEqual([done.isChanged, done.revision], [false, head])
  }
  assert.equal(at.head(), head)
})

test('a rename rewrites the references in the same commit', async () => {
  const head = (kind: string, name: string) =>
    `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`
  const startAt = '2030-01-01T00:00:00Z'
  const at = await scene({
    'tenants/default/services/api.yaml': `${head('Service', 'api')}spec:
  { domain: api.example.com., onAllDown: "pool:web" } # falls back
`,
    'tenants/default/rollouts/r.yaml': `${head('Rollout', 'r')}spec:
  { pool: web, member: fra1, startAt: ${startAt}, steps: [{ weightPct: 50, holdSeconds: 60 }] }
`,
    'tenants/default/w.yaml': `${head('MaintenanceWindow', 'w')}spec:
  { resourceType: member, resource: web/fra1, startAt: ${startAt}, endAt: 2030-01-01T01:00:00Z }
`,
  })
  const before = at.count()
  const { uid } = at.view.snapshot().find('Pool', tenant, 'web')!
  success(await at.write({ verb: 'rename', kind: 'Pool', target: web, name: 'shop' }))
  assert.equal(at.count(), before + 1)
  assert.equal(at.view.snapshot().find('Pool', tenant, 'shop')?.uid, uid)
  assert.equal(at.show(wwwPath), wwwYaml.replace('pool: web', 'pool: shop'))
  assert.match(at.show('tenants/default/services/api.yaml'), /onAllDown: "?pool:shop"? \} # falls/)
  assert.match(at.show('tenants/default/rollouts/r.yaml'), /pool: shop, member: fra1/)
  assert.match(at.show('tenants/default/w.yaml'), /resource: shop\/fra1/)
  // A member with another name and address takes its rules, rollouts and windows along.
  const member = at.view.snapshot().find('Pool', tenant, 'shop')!.object.spec.members[0]!
  const patch = { name: 'fra2', ipAddress: '192.0.2.11' }
  success(await at.write({ verb: 'update', kind: 'Member', target: { uid: member.uid! }, patch }))
  assert.match(at.show('tenants/default/rollouts/r.yaml'), /member: fra2/)
  assert.match(at.show('tenants/default/w.yaml'), /resource: shop\/fra2/)
  success(await at.write({ verb: 'delete', kind: 'Member', target: { uid: member.uid! } }))
  assert.equal(at.view.snapshot().list('Rollout').length, 0)
  assert.equal(at.view.snapshot().list('MaintenanceWindow').length, 0)
})

test('a member takes the geo rules of its address along, and to its grave', async () => {
  const at = await scene()
  const { uid = '' } = memberOf(at, 'par1')
  const patch = { ipAddress: '192.0.2.21' }
  success(await at.write({ verb: 'update', kind: 'Member', target: { uid }, patch }))
  assert.match(at.show(webPath), /endpoint: 192\.0\.2\.21/)
  assert.equal(memberOf(at, 'par1').uid, uid)
  success(await at.write({ verb: 'delete', kind: 'Member', target: { uid } }))
  const pool = at.view.snapshot().find('Pool', tenant, 'web')!
  assert.deepEqual(pool.object.spec.geoRules, [])
})

test('the services of a deleted pool stay, without a pool', async () => {
  const at = await scene()
  success(await at.write({ verb: 'delete', kind: 'Pool', target: web }))
  assert.equal(at.view.snapshot().find('Pool', tenant, 'web'), undefined)
  assert.equal(at.show(wwwPath), wwwYaml.replace('pool: web', 'pool: null'))
  const files = at.box.git(at.gitdir, 'ls-tree', '-r', '--name-only', 'main').split('\n')
  assert.deepEqual(files, ['gslb.yaml', wwwPath])
})

test('the last object leaves settings behind: an empty tree would count as lost', async () => {
  const at = await scene({}, { [webPath]: webYaml })
  success(await at.write({ verb: 'delete', kind: 'Pool', target: web }))
  assert.equal(
    at.show('gslb.yaml'),
    'apiVersion: gslb/v1\nkind: Settings\nmetadata:\n  name: settings\nspec: {}\n',
  )
  assert.equal(at.box.git(at.gitdir, 'ls-tree', '-r', '--name-only', 'main'), 'gslb.yaml')
  success(await at.write(createPool('again')))
})

test('a deleted tenant leaves its objects', async () => {
  const at = await scene()
  const acme: Operation = { verb: 'create', kind: 'Tenant', tenant: 'acme', name: 'acme', spec: {} }
  const pool = { ...createPool('theirs'), tenant: 'acme' } as Operation
  success(await at.write(acme, pool))
  success(
    await at.write({ verb: 'delete', kind: 'Tenant', target: { tenant: 'acme', name: 'acme' } }),
  )
  assert.deepEqual(at.view.snapshot().list('Tenant'), [])
  assert.equal(at.view.snapshot().find('Pool', 'acme', 'theirs')?.tenant, 'acme')
})

test('an impossible write is refused with its code, and the head stays', async () => {
  const at = await scene()
  const head = at.head()
  const www = at.view.snapshot().find('Service', tenant, 'www')!
  const update = { verb: 'update', kind: 'Service', target: { uid: www.uid } } as const
  const domain = 'www.example.com.'
  const rows: readonly [Operation, string][] = [
    [createPool('web'), 'conflict'],
    [{ ...createPool('web'), tenant: 'other' } as Operation, 'conflict'],
    [createPool('x', 'not-an-address'), 'invalid'],
    [{ ...createPool('x'), tenant: '../../etc' } as Operation, 'invalid'],
    [{ ...update, patch: { ttl: -1 } }, 'invalid'],
    [{ ...update, patch: { tll: 1 } }, 'invalid'],
    [{ ...update, patch: { pool: 'nowhere' } }, 'invalid'],
    [{ verb: 'create', kind: 'Service', tenant, name: 'two', spec: { domain } }, 'conflict'],
    [{ ...update, target: { uid: www.uid, tenant: 'other' }, patch: { ttl: 1 } }, 'not-found'],
    [{ ...update, target: { tenant, name: 'nobody' }, patch: { ttl: 1 } }, 'not-found'],
    [{ verb: 'delete', kind: 'Member', target: { uid: www.uid } }, 'not-found'],
    [{ ...update, patch: { ttl: 1 }, ifMatch: 'an older one' }, 'precondition-failed'],
  ]
  // All at once: one batch, in which each fails for itself.
  const results = await Promise.all(rows.map(([operation]) => at.write(operation)))
  assert.deepEqual(
    results.map((result) => (result.ok ? 'ok' : result.error.code)),
    rows.map(([, code]) => code),
  )
  assert.equal(at.head(), head)
  const [, , , , ttl, misspelt] = results
  assert(ttl?.ok === false && misspelt?.ok === false)
  assert.deepEqual(
    ttl.error.diagnostics.map(({ field }) => field),
    ['spec.ttl'],
  )
  assert.match(misspelt.error.diagnostics[0]?.help ?? '', /did you mean "ttl"/)
  const fresh = { ...update, patch: { ttl: 1 }, ifMatch: etagOf(www.object) }
  assert.equal(success(await at.write(fresh)).isChanged, true)
})

test('in one batch the invalid fail alone; those that need each other go together', async () => {
  const at = await scene()
  const before = at.count()
  const service = (name: string, pool: string): Operation => ({
    verb: 'create',
    kind: 'Service',
    tenant,
    name,
    spec: { domain: `${name}.example.com.`, pool },
  })
  const first = at.write(createPool('opens the batch'))
  const results = await Promise.all([
    first,
    at.write(createPool('p1')),
    at.write(service('s1', 'p1')),
    at.write(service('s2', 'missing')),
    at.write(createPool('p2')),
    at.write(service('s3', 'missing')),
    at.write(createPool('p3'), service('s4', 'missing')),
    at.write(service('s5', 'p2')),
  ])
  assert.deepEqual(
    results.map((result) => (result.ok ? 'ok' : result.error.code)),
    ['ok', 'ok', 'ok', 'invalid', 'ok', 'invalid', 'invalid', 'ok'],
  )
  assert.equal(at.view.snapshot().find('Pool', tenant, 'p3'), undefined)
  assert(at.count() <= before + 2, 'what waited for the first commit is one commit')
})

test('on a head that is not accepted nothing is written, until it is mended', async () => {
  const at = await scene()
  const key = at.box.sshKey('bob')
  const signers = at.box.at('data/allowed_signers')
  const [, ...lines] = ['', at.box.run('cat', [signers]), `bob@example.com ${key.publicLine}`]
  writeFileSync(signers, `${lines.join('\n')}\n`)
  at.box.git(at.box.path, 'clone', '-q', at.gitdir, 'checkout')
  const push = (text: string): void => {
    at.box.write('checkout/tenants/default/services/www.yaml', text)
    const commit = ['commit', '-q', '-S', '-a', '-m', 'by hand']
    at.box.git(at.box.at('checkout'), ...at.box.signWith(key), ...commit)
    at.box.git(at.box.at('checkout'), 'push', '-q', 'origin', 'main')
  }
  const head = () => at.head()
  push(wwwYaml.replace('pool: web', 'pool: wbe'))
  const broken = head()
  const refused = await at.write(createPool('later'))
  assert.equal(failure(refused), 'head-invalid')
  assert(!refused.ok)
  assert.deepEqual(
    refused.error.diagnostics.map(({ code, file, line }) => [code, file, line]),
    [['pool-unknown', wwwPath, 7]],
  )
  assert.equal(head(), broken)
  const changes: string[] = []
  at.view.onChange(({ updated }) => changes.push(...updated.map(({ after }) => after.name)))
  push(wwwYaml.replace('60 ', '61 '))
  success(await at.write(createPool('later')))
  assert.equal(at.box.git(at.gitdir, 'rev-list', '--count', `${broken}..main`), '2')
  assert.equal(at.view.snapshot().find('Service', tenant, 'www')?.object.spec.ttl, 61)
  assert.deepEqual(changes, ['www'])
  // And a push alone shows, too.
  at.box.git(at.box.at('checkout'), 'pull', '-q', '--rebase')
  push(wwwYaml.replace('60 ', '62 '))
  await waitUntil(
    'the push to show',
    () => at.view.snapshot().find('Service', tenant, 'www')?.object.spec.ttl === 62,
  )
})

test('a node whose key is not trusted writes nothing', async () => {
  const at = await scene()
  writeFileSync(at.box.at('data/allowed_signers'), signerLine('other@example.com', newPem()))
  const head = at.head()
  const refused = await at.write(createPool('x'))
  assert.equal(failure(refused), 'not-trusted')
  const command =
    /gslbd trust add node@gslbd "ssh-ed25519 \S+ gslbd node" --file \S+allowed_signers/
  assert.match(refused.ok ? '' : refused.error.message, command)
  assert.equal(at.head(), head)
})

test('a damaged allowed_signers is why a write is refused; mended, the write is made', async () => {
  const at = await scene()
  const path = at.box.at('data/allowed_signers')
  const lines = at.box.run('cat', [path])
  writeFileSync(path, 'garbage\n')
  await waitUntil('the alarm', () => at.status().code === 'SignersUnreadable')
  const refused = await at.write(createPool('x'))
  assert.equal(failure(refused), 'not-trusted')
  assert.match(refused.ok ? '' : refused.error.message, /allowed_signers has an error: line 1/)
  writeFileSync(path, `${lines}\n`)
  success(await at.write(createPool('x')))
})

test('a write with a plan is its own commit, others of the same moment share one', async () => {
  const at = await scene()
  const create = (name: string): Operation => {
    const spec = { members: [{ ipAddress: '192.0.2.99', port: 80 }] }
    return { verb: 'create', kind: 'Pool', tenant: 'default', name, spec }
  }
  const [, one, planned, other] = await Promise.all([
    at.write(create('w1')),
    at.write(create('w2')),
    at.send({ judgement: { by: 'plan', moved: [] } }, create('w3')),
    at.write(create('w4')),
  ])
  assert(one.ok && planned.ok && other.ok)
  assert.equal(one.value.revision, other.value.revision)
  assert.notEqual(planned.value.revision, one.value.revision)
})
