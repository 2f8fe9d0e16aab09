// What other nodes found, read as a source: trusted, fresh, and no older than before.
import { expect, test } from 'vitest'
import { printTargets } from '#integrations/targets/fleet-document.ts'
import { asked, askOf, targetLines } from '#test/support/discovery-kinds.ts'

const nowMs = Date.UTC(2026, 10, 30)
const target = (address: string) => ({
  ...{ address, port: 80, labels: new Map([['weight', ['3']]]) },
})
const told = (address: string, atMs = nowMs, by = 'control'): string =>
  printTargets({ key: 'one/web', atMs, freshMs: 600_000, targets: [target(address)] }, () => by)

function world() {
  const state: { text: string | null; clockMs: number; isAway: boolean } = {
    ...{ text: null, clockMs: nowMs, isAway: false },
  }
  const ask = askOf(
    'fleet',
    {},
    {
      nowMs: () => state.clockMs,
      fleet: {
        read: async (key) => {
          if (state.isAway) throw new Error('Redis is away.')
          return key === 'one/web' ? state.text : null
        },
        signerOf: (_text, signature) => (signature.startsWith('control') ? signature : undefined),
      },
    },
  )
  const lines = async (service = 'web') => targetLines(await ask(asked(service)), 'weight')
  return { state, ask, lines }
}

test('targets are those that a trusted node told, and new once they are others', async () => {
  const { state, ask, lines } = world()
  state.text = told('192.0.2.1')
  expect(await lines()).toEqual(['192.0.2.1:80 weight=3'])
  const first = await ask(asked('web'))
  const cursor = first.ok ? first.value.cursor : ''
  expect(await ask(asked('web', cursor))).toEqual({ ok: true, value: { targets: null, cursor } })
  state.text = told('192.0.2.2', nowMs + 1)
  expect(targetLines(await ask(asked('web', cursor)))).toEqual(['192.0.2.2:80'])
})

test.each([
  ['nobody has told of', null, 'no control node has told of one/web yet'],
  ['a stranger has signed', told('192.0.2.9', nowMs, 'stranger'), 'signed by no node'],
  ['was told by a clock that is ahead', told('192.0.2.1', nowMs + 300_001), 'clock of who told it'],
  ['was told long ago', told('192.0.2.1', nowMs - 600_001), 'since 2026-11-29T23:49:59.999Z'],
])('what %s is a fault', async (_what, text, fault) => {
  const { state, lines } = world()
  state.text = text
  expect(await lines()).toEqual([expect.stringContaining(fault)])
})

test('what was signed before and is put back is a fault', async () => {
  const { state, lines } = world()
  state.text = told('192.0.2.2')
  await lines()
  state.text = told('192.0.2.1', nowMs - 1)
  expect(await lines()).toEqual([expect.stringContaining('older than what was there before')])
})

test('nodes whose clocks differ are believed in turns, what is put back is not', async () => {
  const { state, lines } = world()
  const askedBy = async (by: string, behindMs: number): Promise<readonly string[]> => {
    state.clockMs += 60_000
    state.text = told('192.0.2.1', state.clockMs - behindMs, by)
    return await lines()
  }
  const good = ['192.0.2.1:80 weight=3']
  for (let minute = 0; minute < 5; minute++) {
    expect(await askedBy('control-a', 0)).toEqual(good)
    expect(await askedBy('control-b', 90_000)).toEqual(good)
  }
  const fault = [expect.stringContaining('older than what was there before')]
  // Both what it signed itself before, and what is of another time altogether.
  expect(await askedBy('control-b', 300_000)).toEqual(fault)
  expect(await askedBy('control-c', 500_000)).toEqual(fault)
})

test('what another node told of the same moment is new', async () => {
  const { state, ask } = world()
  state.text = told('192.0.2.1', nowMs, 'control-a')
  const first = await ask(asked('web'))
  state.text = told('192.0.2.2', nowMs, 'control-b')
  const cursor = first.ok ? first.value.cursor : ''
  expect(targetLines(await ask(asked('web', cursor)))).toEqual(['192.0.2.2:80'])
})

test('a store that is away is a fault', async () => {
  const { state, lines } = world()
  state.isAway = true
  expect(await lines()).toEqual(['what is shared cannot be read: Redis is away.'])
})

test('once the clock of a control node is put right, what it tells counts at once', async () => {
  const { state, lines } = world()
  state.text = told('192.0.2.1', nowMs + 86_400_000)
  await lines()
  state.text = told('192.0.2.2')
  expect(await lines()).toEqual(['192.0.2.2:80 weight=3'])
})
