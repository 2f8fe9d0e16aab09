// The history of a repository that people write: what it reads, remembers and shows of moves.
import { expect, test } from 'vitest'
import { historyLimits } from '#config/history.ts'
import type { HistoryCommit, HistoryLimits, HistoryQuestion } from '#config/history.ts'
import { revertOperations } from '#config/revert.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { History } from '#gitops/history/history.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { viewOf } from '#test/support/config-view.ts'

const uid = '0190aaaa-0000-7000-8000-000000000001'
const poolText = (name: string, id = ''): string =>
  `apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: ${name}${id && `, uid: ${id}`} }\n` +
  'spec: { minHealthy: 1 }\n'

function repository() {
  const box = gitSandbox()
  box.run('git', ['init', '-q', '-b', 'main', 'repo'])
  const git = (...args: string[]): string => box.git(box.at('repo'), ...args)
  const commit = (files: Readonly<Record<string, string | null>>, seconds?: number): string => {
    for (const [path, text] of Object.entries(files)) {
      if (text === null) git('rm', '-q', path)
      else box.write(`repo/${path}`, text)
    }
    git('add', '-A')
    const date = seconds === undefined ? [] : [`GIT_COMMITTER_DATE=${seconds} +0000`]
    box.run('env', [...date, 'git', '-C', box.at('repo'), 'commit', '-q', '-m', 'a change'])
    return git('rev-parse', 'main')
  }
  let reads = 0
  const driver = createDiskDriver(box.at('repo/.git'))
  const counting: typeof driver = {
    ...driver,
    readBlob: (oid, bytesMax) => {
      reads++
      return driver.readBlob(oid, bytesMax)
    },
  }
  return {
    commit,
    readsOf: async (work: () => Promise<unknown>): Promise<number> => {
      const before = reads
      await work()
      return reads - before
    },
    historyWith: (limits: Partial<HistoryLimits> = {}) =>
      new History(counting, () => git('rev-parse', 'main'), { ...historyLimits, ...limits }),
  }
}

const all = {
  ...{ tenant: null, object: '', after: '', commitsMax: 100 },
  ...{ fromSeconds: 0, beforeSeconds: Infinity },
} as const

test('a question that would read too many files goes on with the next page', async () => {
  const { commit, historyWith } = repository()
  const made = [1, 2, 3].map((number) =>
    commit({
      [`tenants/default/pools/a${number}.yaml`]: poolText(`a${number}`),
      [`tenants/default/pools/b${number}.yaml`]: poolText(`b${number}`),
    }),
  )
  const history = historyWith({ filesMax: 2, keptMax: 0 })
  const pages: string[][] = []
  for (let after = ''; ;) {
    const page = await history.list({ ...all, after })
    if (!page.ok) throw new Error(page.error)
    pages.push(page.value.commits.map((one) => one.commit))
    after = page.value.next
    if (after === '') break
  }
  expect(pages).toEqual(made.toReversed().map((one) => [one]))
})

test('an object that is gone is asked for by its name, in a span of time', async () => {
  const { commit, historyWith, readsOf } = repository()
  const begin = 1_700_000_000
  const path = 'tenants/default/pools/web.yaml'
  const made = commit({ [path]: poolText('web', uid) }, begin)
  const other = commit({ 'tenants/default/pools/b.yaml': poolText('b') }, begin + 1)
  const gone = commit({ [path]: null }, begin + 2)
  const asked = async (question: Partial<HistoryQuestion>) => {
    const page = await historyWith().list({ ...all, ...question })
    if (!page.ok) throw new Error(page.error)
    return page.value.commits.map((one) => one.commit)
  }
  expect(await asked({ object: 'web' })).toEqual([gone, made])
  expect(await asked({ object: uid })).toEqual([gone, made])
  expect(await asked({ object: 'nobody' })).toEqual([])
  expect(await asked({ fromSeconds: begin + 1 })).toEqual([gone, other])
  const until = { ...all, beforeSeconds: begin + 1 }
  const reads = await readsOf(async () => {
    const page = await historyWith().list(until)
    expect(page.ok && page.value.commits.map((one) => one.commit)).toEqual([made])
  })
  expect(reads, 'files of later commits are not read').toBe(1)
})

test('a commit by a clock that was behind does not end a span of time', async () => {
  const { commit, historyWith } = repository()
  const begin = 1_700_000_000
  const path = 'tenants/default/pools/web.yaml'
  const times = [begin - 10, begin, begin - 1e6, begin - 1e6, begin + 1]
  const made = times.map((seconds, i) =>
    commit({ [path]: poolText('web') + '#'.repeat(i) }, seconds),
  )
  const page = await historyWith().list({ ...all, object: 'web', fromSeconds: begin })
  expect(page.ok && page.value.commits.map((one) => one.commit)).toEqual([made[4], made[1]])
})

test('a commit that changed more than is read is among those of any object', async () => {
  const { commit, historyWith } = repository()
  const names = ['a', 'b', 'c']
  commit(Object.fromEntries(names.map((name) => [`tenants/t/pools/${name}.yaml`, poolText(name)])))
  const asked = async (tenant: string | null, objectsMax: number) => {
    const page = await historyWith({ objectsMax }).list({ ...all, tenant, object: 'c' })
    return page.ok && page.value.commits.map(({ isMore, objects }) => [isMore, objects.length])
  }
  expect(await asked(null, 2)).toEqual([[true, 2]])
  expect(await asked('t', 2)).toEqual([[true, 2]])
  expect(await asked('other', 2), 'nothing of a tenant is nothing for it').toEqual([])
  expect(await asked(null, 3)).toEqual([[false, 3]])
})

test('files beyond the octets of a commit or a question are not read, which is said', async () => {
  const { commit, historyWith } = repository()
  const text = (name: string) => poolText(name) + '#'.repeat(1_000 - poolText(name).length)
  const made = [1, 2].map((number) =>
    commit({
      [`tenants/default/pools/a${number}.yaml`]: text(`a${number}`),
      [`tenants/default/pools/b${number}.yaml`]: text(`b${number}`),
    }),
  )
  const tight = historyWith({ commitBytesMax: 1_999 })
  const [cut, whole] = [
    await tight.changeOf(made[0]!, null),
    await historyWith({ commitBytesMax: 2_000 }).changeOf(made[0]!, null),
  ]
  expect(cut).toMatchObject({ ok: true, value: { isCut: true, isMore: true } })
  expect(whole).toMatchObject({ ok: true, value: { isCut: false, isMore: false } })
  const namesOf = (found: typeof cut) =>
    found.ok ? found.value.changes.map((one) => one.name) : []
  expect([namesOf(cut), namesOf(whole)]).toEqual([['a1'], ['a1', 'b1']])

  const page = await historyWith({ bytesMax: 2_000 }).list(all)
  const shown = page.ok ? [page.value.commits.map((one) => one.commit), page.value.next] : []
  expect(shown).toEqual([[made[1]], made[1]])
})

test('changes of commits are cached up to a sum of commits and files', async () => {
  const { commit, historyWith, readsOf } = repository()
  for (const number of [1, 2, 3]) {
    commit({ [`tenants/default/pools/p${number}.yaml`]: poolText(`p${number}`) })
  }
  const [roomy, narrow] = [historyWith({ keptMax: 6 }), historyWith({ keptMax: 5 })]
  for (const history of [roomy, narrow]) expect(await readsOf(() => history.list(all))).toBe(3)
  expect(await readsOf(() => roomy.list(all))).toBe(0)
  expect(await readsOf(() => narrow.list(all))).toBeGreaterThan(0)
})

test('to each of two tenants an object that moves is shown as its own alone', async () => {
  const { commit, historyWith } = repository()
  const [acme, zenith] = ['tenants/acme/pools/web.yaml', 'tenants/zenith/pools/web.yaml']
  commit({ [acme]: poolText('secret-of-acme', uid) })
  const moved = commit({ [acme]: null, [zenith]: poolText('web-of-zenith', uid) })
  const history = historyWith()
  const changeOf = async (tenant: string | null) => {
    const found = await history.changeOf(moved, tenant)
    if (!found.ok) throw new Error(found.error)
    return found.value
  }
  const shown = ({ objects }: HistoryCommit) => objects.map(({ name, change }) => [name, change])
  const ofZenith = await changeOf('zenith')
  expect(shown(ofZenith)).toEqual([['web-of-zenith', 'created']])
  expect(JSON.stringify(ofZenith)).not.toContain('secret-of-acme')
  const ofAcme = await changeOf('acme')
  expect(shown(ofAcme)).toEqual([['secret-of-acme', 'deleted']])
  expect(JSON.stringify(ofAcme)).not.toContain('web-of-zenith')
  const { changes } = await changeOf(null)
  expect(changes).toHaveLength(2)
  // It would be deleted there, and not come back here.
  const now = changes.find(({ tenant }) => tenant === 'zenith')!.after!
  const deleted = changes.find(({ tenant }) => tenant === 'acme')!
  const snapshot = viewOf({ ...now, uid: deleted.uid }).snapshot()
  expect(revertOperations(changes, snapshot)).toEqual({
    ok: false,
    error: ['Pool secret-of-acme belongs to another tenant now'],
  })
})

test('the files of a commit are those that it had, up to a limit', async () => {
  const { commit, historyWith } = repository()
  const [path, other] = ['tenants/default/pools/a.yaml', 'tenants/default/pools/b.yaml']
  const first = commit({ [path]: poolText('a'), 'README.md': 'words' })
  const second = commit({ [path]: null, [other]: poolText('b') })
  const textsOf = async (id: string, limits: Partial<HistoryLimits> = {}): Promise<unknown> => {
    const found = await historyWith(limits).filesOf(id)
    if (!found.ok) return found.error
    return found.value.map((file) => [file.path, file.bytes && Buffer.from(file.bytes).toString()])
  }
  // Files outside the configuration are listed, and not read.
  const readme = ['README.md', null]
  expect(await textsOf(first)).toEqual([readme, [path, poolText('a')]])
  expect(await textsOf(second)).toEqual([readme, [other, poolText('b')]])
  expect(await textsOf(first, { treeBytesMax: poolText('a').length - 1 })).toBe('too-large')
  expect(await textsOf('c'.repeat(40))).toBe('not-found')
})
