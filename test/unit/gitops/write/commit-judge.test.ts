// Requests that `guardrails.movedClients` judges as their commit is made.
import { expect, onTestFinished, test } from 'vitest'
import type { Moved } from '#compiler/lower/name-outline.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { CommitResult, Operation, WriteRequest } from '#config/operation.ts'
import { etagOf } from '#config/entry.ts'
import { gitLimits } from '#gitops/limits.ts'
import type { CommitEffects } from '#judge/effects/commit-effect.ts'
import { createCommitEffects } from '#judge/effects/commit-effects.ts'
import { quickLimits } from '#judge/plan/quick-effect.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { filesOf } from '#test/support/guarded-node.ts'
import { newPem, seedOrigin, signerLine, startWriteScene } from '#test/support/write-scene.ts'
import type { SceneOptions } from '#test/support/write-scene.ts'

const tenant = 'default'
const pools = { web: [1, 2, 3, 4], shop: [5] }
const limited = filesOf({ default: pools }, 'movedClients: 50')
const effects = () => createCommitEffects({ hasDatabases: false, databases: () => null })

async function scene(files = limited, parts: Partial<SceneOptions> = {}) {
  const options = { dataDir: gitSandbox().at('data'), pem: newPem(), effects: effects(), ...parts }
  await seedOrigin(options, files)
  const at = await startWriteScene(options)
  onTestFinished(() => at.stop())
  /** Requests of the same moment share a commit. */
  const together = async (...requests: readonly Asked[]): Promise<readonly string[]> =>
    (await Promise.all(requests.map(([operation, more = {}]) => at.send(more, operation)))).map(
      wordOf,
    )
  const commits = (): number => new Set(at.published.map(({ commit }) => commit)).size - 1
  return { ...at, together, commits }
}

type Asked = readonly [operation: Operation, more?: Partial<WriteRequest>]
const wordOf = (done: CommitResult): string =>
  done.ok ? (done.value.effect ?? 'made') : done.error.code

/** Members by their last octet. */
const members = (name: string, ...octets: readonly number[]): Operation => {
  const rows = octets.map((n) => ({ name: `m${n}`, ipAddress: `192.0.2.${n}`, port: 80 }))
  return update(name, { members: rows })
}
const update = (name: string, patch: JsonObject) =>
  ({ verb: 'update', kind: 'Pool', target: { tenant, name }, patch }) as const
const addMember = (name: string, octet: number): Operation => {
  const spec = { ipAddress: `192.0.2.${octet}`, port: 80 }
  return { verb: 'create', kind: 'Member', owner: { tenant, name }, spec }
}
const override = 'a new shop'
const byPlan = (moved: readonly Moved[]) => ({ judgement: { by: 'plan', moved } }) as const

test('only those of simultaneous requests that move too many clients are refused', async () => {
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

test('an intended change is made, whatever stands beside it', async () => {
  const { together } = await scene()
  const done = await together(
    [members('shop', 6), { override }],
    [members('web', 7, 8, 9)],
    [addMember('web', 10)],
  )
  expect(done).toEqual(['moved=100%; names=1; later=1', 'guarded', 'moved=20%; names=1; later=1'])
})

test('a change that goes back is made and says so; a repetition is refused', async () => {
  const { send, write, view } = await scene()
  const before = view.snapshot().revision
  expect(wordOf(await send({ override }, members('shop', 6)))).toMatch('moved=100%')
  const dry = await send({ isDryRun: true }, members('shop', 5))
  const back = await write(members('shop', 5))
  expect([dry, back].map((done) => done.ok && done.value.backTo)).toEqual([before, before])
  expect(wordOf(back)).toBe('moved=100%; names=1; later=1')
  expect(wordOf(await write(members('shop', 6)))).toBe('guarded')
})

test('a change that takes a plan to judge is not judged without one', async () => {
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
    'needs-plan',
    'moved=20%; names=1; later=1',
  ])
  expect(commits()).toBe(1)
  const moved = [{ tenant, name: 's0.example.com.', share: 0.6 }]
  expect(wordOf(await send(byPlan(moved), large))).toBe('guarded')
  expect(await together([large, { judgement: { by: 'nobody' } }], [addMember('web', 9)])).toEqual([
    'made',
    'moved=16.7%; names=1; later=1',
  ])
  // By rows alone: it is exactly what it was.
  const back = await send(byPlan([{ ...moved[0]!, share: 1 }]), members('shop', 5))
  expect(back.ok && back.value.backTo).toMatch(/^[0-9a-f]{40}$/)
  expect(wordOf(await send(byPlan([{ ...moved[0]!, share: 0.5 }]), large))).toBe('made')
})

test('a change beside a refused one is judged without it after that one failed', async () => {
  const { together, view, commits } = await scene()
  const { object } = view.snapshot().find('Pool', tenant, 'shop')!
  const patch = { members: object.spec.members, healthCheck: { type: 'tcp' } }
  const harmless = { ...update('shop', patch), ifMatch: etagOf(object) }
  const wrong = { ...update('shop', {}), ifMatch: 'another' }
  const done = await together([members('shop', 6)], [harmless], [wrong])
  expect(done).toEqual(['guarded', expect.stringMatching(/^moved=0%/), 'precondition-failed'])
  expect(commits()).toBe(1)
})

test('a change found to go back is judged again if another commit came first', async () => {
  const box = gitSandbox()
  const [real, pem, dataDir, origin] = [
    effects(),
    newPem(),
    box.at('data'),
    box.at('data/config.git'),
  ]
  const alice = box.sshKey('alice')
  box.write(
    'data/allowed_signers',
    `${signerLine('node@gslbd', pem)}alice@example.com ${alice.publicLine}\n`,
  )
  const steps: (() => void)[] = []
  const watched: CommitEffects = {
    ...real,
    movedOf: (...asked) => {
      steps.shift()?.()
      return real.movedOf(...asked)
    },
  }
  const { write, send, view } = await scene(limited, { dataDir, pem, effects: watched })
  expect(wordOf(await send({ override }, members('shop', 6)))).toMatch('moved=100%')
  box.git(box.path, 'clone', '-q', '-b', 'main', origin, 'copy')
  const path = 'tenants/default/pools/shop.yaml'
  box.write(`copy/${path}`, box.git(box.at('copy'), 'show', `HEAD:${path}`).replaceAll('.6', '.7'))
  box.git(box.at('copy'), ...box.signWith(alice), 'commit', '-aqS', '-m', 'other')
  steps.push(() => void box.git(origin, 'fetch', '-q', box.at('copy'), 'main:main'))
  expect(wordOf(await write(members('shop', 5)))).toBe('guarded')
  expect(steps).toEqual([])
  const { members: kept = [] } = view.snapshot().find('Pool', tenant, 'shop')!.object.spec
  expect(kept.map(({ ipAddress }) => ipAddress)).toEqual(['192.0.2.7'])
})

test('a turn with many refusals ends as soon as its clients give up', async () => {
  const names = Array.from({ length: 64 }, (_, i) => `p${i}`)
  const files = filesOf({ default: Object.fromEntries(names.map((name) => [name, [1]])) })
  const time = new FakeTime(Date.now())
  const real = effects()
  const between: CommitEffects['between'] = (...asked) => {
    time.pass(1_000)
    return real.between(...asked)
  }
  const parts = { effects: { ...real, between }, clock: time.clock }
  const settings = limited['gslb.yaml']!
  const { together } = await scene({ ...files, 'gslb.yaml': settings }, parts)
  const sinceMs = time.clock.monotonicMs()
  const done = await together(...names.map((name): Asked => [members(name, 2)]))
  const passedMs = time.clock.monotonicMs() - sinceMs
  expect(passedMs).toBe(gitLimits.writeMs)
  expect(new Set(done)).toEqual(new Set(['guarded', 'busy']))
  expect(done.slice(-32)).toEqual(Array(32).fill('busy'))
})

test('a plan is not believed where the commit itself says what it moves', async () => {
  const { send } = await scene()
  const moved = [{ tenant, name: 'shop.example.com.', share: 0 }]
  expect(wordOf(await send(byPlan(moved), members('shop', 6)))).toBe('guarded')
  expect(wordOf(await send(byPlan([{ ...moved[0]!, share: 1 }]), addMember('shop', 6)))).toBe(
    'moved=50%; names=1; later=1',
  )
})

test('a mistake on the way back is a refusal, of that request alone', async () => {
  const movedOf = () => {
    throw new Error('a mistake')
  }
  const { together, send, changes } = await scene(limited, { effects: { ...effects(), movedOf } })
  expect(wordOf(await send({ override }, members('shop', 6)))).toMatch('moved=100%')
  const done = await together([members('shop', 5)], [addMember('web', 6)])
  expect(done).toEqual(['guarded', 'moved=20%; names=1; later=1'])
  expect(changes.some((line) => line.includes('a mistake'))).toBe(true)
})

test('a judge that cannot be had costs the judgement alone', async () => {
  const none = Promise.reject<CommitEffects>(new Error('a mistake'))
  none.catch(() => undefined)
  const { together } = await scene(limited, { effects: none })
  expect(await together([addMember('web', 6)])).toEqual(['needs-plan'])
})

test('a mistake of ours costs the judgement, not the write', async () => {
  const between = () => {
    throw new Error('a mistake')
  }
  const broken = { between, movedOf: between, renew: () => undefined }
  const { together, changes } = await scene(limited, { effects: broken })
  const asked = members('shop', 6)
  expect(await together([asked], [addMember('web', 6)])).toEqual(['needs-plan', 'needs-plan'])
  expect(await together([asked, { judgement: { by: 'nobody' } }])).toEqual(['made'])
  expect(changes.some((line) => line.includes('a mistake'))).toBe(true)
})

test('without a limit the effect is worked out for those who ask alone', async () => {
  const real = effects()
  let asked = 0
  const between: CommitEffects['between'] = (...of) => {
    asked++
    return real.between(...of)
  }
  const parts = { effects: { ...real, between }, asksForEffect: false }
  const { write, send } = await scene(filesOf({ default: pools }), parts)
  expect(wordOf(await write(addMember('web', 6)))).toBe('made')
  expect(asked).toBe(0)
  const asking = { effectFor: { tenant: null } }
  const effect = 'moved=16.7%; names=1; later=1'
  expect(wordOf(await send(asking, addMember('web', 7)))).toBe(effect)
  expect(asked).toBe(1)
  const limits = await scene(limited, { effects: effects(), asksForEffect: false })
  expect(wordOf(await limits.send({ ...asking, override }, members('shop', 6)))).toMatch('100%')
  expect(wordOf(await limits.write(members('shop', 7)))).toBe('guarded')
})
