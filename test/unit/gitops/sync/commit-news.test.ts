// Nodes that tell each other of commits: who looks, who is waited for, and who is not.
import { expect, test, vi } from 'vitest'
import { CommitNews, commitNewsLimits } from '#gitops/sync/commit-news.ts'

function node(count = 1) {
  const world = { count, nowMs: 0 }
  const look = vi.fn()
  const announced: string[] = []
  const news = new CommitNews({
    name: 'here',
    count: () => world.count,
    look,
    announce: (text) => announced.push(text),
    clock: { nowMs: () => world.nowMs, monotonicMs: () => world.nowMs },
  })
  return { world, news, look, announced }
}

test('a node that is behind looks at the repository; one level or ahead does not', () => {
  const { news, look, world, announced } = node(3)
  for (const text of ['3 there', '2 third', '9 here']) news.heard(text)
  expect(look).not.toHaveBeenCalled()
  news.heard('4 there')
  expect(look).toHaveBeenCalledOnce()
  world.count = 4
  news.activated()
  expect(announced).toEqual(['4 here'])
})

test.each([
  '',
  'x',
  '4',
  '4 ',
  '-4 there',
  '4 a b',
  '4444444444444444 there',
  `4 ${'x'.repeat(300)}`,
])('%j is passed over', async (text) => {
  const { news, look, world } = node(1)
  news.heard(text)
  world.count = 5
  await news.followed()
  expect(look).not.toHaveBeenCalled()
})

test('a write waits for those that follow, also when they skip a commit', async () => {
  const { news, world } = node(1)
  news.heard('1 there')
  news.heard('1 third')
  world.count = 2
  const done = vi.fn()
  const waiting = news.followed().then(done)
  news.heard('2 there')
  await Promise.resolve()
  expect(done).not.toHaveBeenCalled()
  news.heard('3 third')
  await waiting
})

test('a node that does not follow is waited for once, and again when it caught up', async () => {
  const { news, world } = node(1)
  news.heard('1 there')
  world.count = 2
  const waiting = news.followed()
  world.nowMs += commitNewsLimits.patienceMs
  // Any news lets it look at the time.
  news.heard('2 third')
  await waiting
  world.count = 3
  news.heard('3 third')
  await news.followed()
  news.heard('3 there')
  world.count = 4
  const done = vi.fn()
  const again = news.followed().then(done)
  news.heard('4 third')
  await Promise.resolve()
  expect(done).not.toHaveBeenCalled()
  news.heard('4 there')
  await again
})

test('a silent node counts as gone', async () => {
  const { news, world } = node(1)
  news.heard('1 there')
  world.nowMs += commitNewsLimits.forgetMs + 1
  news.tick()
  world.count = 2
  await news.followed()
})
