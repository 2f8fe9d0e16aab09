// Requests that `guardrails.movedClients` judges as their commit is made.
import { expect, onTestFinished, test } from 'vitest'
import type { Operation, WriteRequest, WriteResult } from '#config/operation.ts'
import { createCommitEffects } from '#judge/effects/commit-effects.ts'
import { quickLimits } from '#judge/plan/quick-effect.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { filesOf } from '#test/support/guarded-node.ts'
import { newPem, seedOrigin, startWriteScene } from '#test/support/write-scene.ts'
import type { SceneOptions } from '#test/support/write-scene.ts'

const tenant = 'default'
const pools = { web: [1, 2, 3, 4], shop: [5] }
const limited = filesOf({ default: pools }, 'movedClients: 50')
const effects = () => createCommitEffects({ hasDatabases: false, databases: () => null })

async function scene(files = limited, parts: Partial<SceneOptions> = {}) {
  const options = { dataDir: gitSandbox().at('data'), pem: newPem(), effects: effects() }
  await seedOrigin(options, files)
  const at = await startWriteScene({ ...options, ...parts })
  onTestFinished(() => at.stop())
  /** What comes at the same moment shares a commit. */
  const together = async (...requests: readonly Asked[]): Promise<readonly string[]> =>
    (await Promise.all(requests.map(([operation, more = {}]) => at.send(more, operation)))).map(
      wordOf,
    )
  const commits = (): number => new Set(at.published.map(({ commit }) => commit)).size - 1
  return { ...at, together, commits }
}

type Asked = readonly [operation: Operation, more?: Partial<WriteRequest>]
const wordOf = (done: WriteResult): string =>
  done.ok ? (done.value.effect ?? 'made') : done.error.code

/** Members by their last octet. */
const members = (name: string, ...octets: readonly number[]): Operation => {
  const rows = octets.map((n) => ({ name: `m${n}`, ipAddress: `192.0.2.${n}`, port: 80 }))
  return { verb: 'update', kind: 'Pool', target: { tenant, name }, patch: { members: rows } }
}
const addMember = (name: string, octet: number): Operation => {
  const spec = { ipAddress: `192.0.2.${octet}`, port: 80 }
  return { verb: 'create', kind: 'Member', owner: { tenant, name }, spec }
}
const override = 'a new shop'

test('of requests that come together only those that move too many are refused', async () => {
  const { together, commits, view } = await scene()
  const done = await together([members('web', 9, 2, 3, 4)], [members('shop', 6)])
  expect(done).toEqual(['moved=25%; names=1; later=1', 'guarded'])
  expect(commits()).toBe(1)
  const { members: kept = [] } = view.snapshot().find('Pool', tenant, 'shop')!.object.spec
  expect(kept.map(({ ipAddress }) => ipAddress)).toEqual(['192.0.2.5'])
})

test('a refusal says which limit, and what to do, dry or not', async () => {
  const { send } = await scene()
  for (const more of [{}, { isDryRun: true }] as const) {
    const done = await send(more, members('shop', 6))
    const message =
      'This would send 100 % of the clients of shop.example.com. elsewhere, more than 50 % ' +
      '(guardrails.movedClients). POST /api/v1/plan says which. If that is meant, send it again ' +
      'with the header X-Gslb-Override: REASON; the reason is kept in the commit.'
    const own = { tenant, message: message.slice(0, message.indexOf(' POST')) }
    expect(done.ok ? done : done.error).toMatchObject({ code: 'guarded', message, own })
  }
})

test('each is judged by itself: two that move too many together are two commits', async () => {
  const { together, commits } = await scene()
  const moved = await together([addMember('shop', 6)], [addMember('shop', 7)])
  expect(moved).toEqual(['moved=50%; names=1; later=1', 'moved=33.3%; names=1; later=1'])
  expect(commits()).toBe(2)
})

test('what is meant is made, whatever stands beside it', async () => {
  const { together } = await scene()
  const done = await together(
    [members('shop', 6), { override }],
    [members('web', 7, 8, 9)],
    [addMember('web', 10)],
  )
  expect(done).toEqual(['moved=100%; names=1; later=1', 'guarded', 'moved=20%; names=1; later=1'])
})

test('what goes back is made and says so; the same once more is refused', async () => {
  const { send, write, view } = await scene()
  const before = view.snapshot().revision
  expect(wordOf(await send({ override }, members('shop', 6)))).toMatch('moved=100%')
  const dry = await send({ isDryRun: true }, members('shop', 5))
  const back = await write(members('shop', 5))
  expect([dry, back].map((done) => done.ok && done.value.backTo)).toEqual([before, before])
  expect(wordOf(back)).toBe('moved=100%; names=1; later=1')
  expect(wordOf(await write(members('shop', 6)))).toBe('guarded')
})

test('what takes a plan to find out is not judged without one', async () => {
  const services = Array.from({ length: quickLimits.namesMax + 1 }, (_, i) => `s${i}`)
  const serviceOf = (name: string): readonly [string, string] => [
    `tenants/default/services/${name}.yaml`,
    limited['tenants/default/services/shop.yaml']!.replace(
      'name: shop }',
      `name: ${name} }`,
    ).replace('domain: shop', `domain: ${name}`),
  ]
  const { together, send, commits } = await scene({
    ...limited,
    ...Object.fromEntries(services.map(serviceOf)),
  })
  const large = members('shop', 6)
  expect(await together([large], [addMember('web', 8)])).toEqual([
    'unjudged',
    'moved=20%; names=1; later=1',
  ])
  expect(commits()).toBe(1)
  const moved = [{ tenant, name: 's0.example.com.', share: 0.6 }]
  expect(wordOf(await send({ moved }, large))).toBe('guarded')
  expect(await together([large, { moved: null }], [addMember('web', 9)])).toEqual([
    'moved=unknown; reason=names',
    'moved=16.7%; names=1; later=1',
  ])
  // By rows alone: it is exactly what it was.
  const back = await send({ moved: [{ ...moved[0]!, share: 1 }] }, members('shop', 5))
  expect(back.ok && back.value.backTo).toMatch(/^[0-9a-f]{40}$/)
  expect(wordOf(await send({ moved: [{ ...moved[0]!, share: 0.5 }] }, large))).toMatch('moved=')
})

test('a mistake of ours costs the judgement, not the write', async () => {
  const between = () => {
    throw new Error('a mistake')
  }
  const broken = { between, movedOf: between, renew: () => undefined }
  const { together, changes } = await scene(limited, { effects: broken })
  const asked = members('shop', 6)
  expect(await together([asked], [addMember('web', 6)])).toEqual(['unjudged', 'unjudged'])
  expect(await together([asked, { moved: null }])).toEqual(['made'])
  expect(changes.some((line) => line.includes('a mistake'))).toBe(true)
})
