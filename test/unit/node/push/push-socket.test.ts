// The question of a hook and the node's answer, over a real socket; what else may come is refused.
import { existsSync, mkdirSync, statSync, symlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { assert as check, property, string } from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { askNode } from '#node/push/ask-node.ts'
import { pushSocketName, readPushedHead, readVerdict } from '#node/push/messages.ts'
import { openPushSocket } from '#node/push/push-socket.ts'
import type { PushedHead } from '#gitops/sync/push-judge.ts'
import type { Stop } from '#gitops/sync/steps.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const head = 'ab'.repeat(20)
const stop: Stop = {
  sync: 'held',
  code: 'Unsigned',
  reason: 'It is not signed.',
  note: '',
  diagnostics: [],
  diagnosticsTotal: 0,
}
const opened: { close: () => void }[] = []
afterEach(() => {
  for (const each of opened.splice(0)) each.close()
})

async function scene(verdict: Stop | null = stop) {
  const dataDir = tempDir('push-socket')
  const gitdir = join(dataDir, 'config.git')
  const incoming = join(gitdir, 'objects', 'tmp_objdir-incoming-1')
  mkdirSync(incoming, { recursive: true })
  const asked: PushedHead[] = []
  const judge = async (push: PushedHead) => {
    asked.push(push)
    return verdict
  }
  const socket = openPushSocket({ dataDir, gitdir, judge, log: silentLog })
  opened.push(socket)
  const path = join(dataDir, pushSocketName)
  await waitUntil('the socket', () => existsSync(path) && (statSync(path).mode & 0o777) === 0o600)
  return { dataDir, gitdir, incoming, asked, path, socket }
}

test('a hook has the verdict of the node that runs', async () => {
  const { dataDir, incoming, asked } = await scene()
  const push = { head, incoming, attestations: new Map([[head, 'cd'.repeat(20)]]) }
  expect(await askNode(dataDir, push)).toMatchObject({ sync: 'held', code: 'Unsigned' })
  expect(asked).toEqual([push])
})

describe('there is no verdict, and the hook judges by itself,', () => {
  const push = { head, incoming: null, attestations: new Map() }
  test('when the node cannot judge now', async () => {
    expect(await askNode((await scene(null)).dataDir, push)).toBeUndefined()
  })

  test('when no node runs, or it has stopped', async () => {
    expect(await askNode(tempDir('no-node'), push)).toBeUndefined()
    expect(await askNode('/nowhere', push)).toBeUndefined()
    const { dataDir, socket, path } = await scene()
    socket.close()
    expect(existsSync(path)).toBe(false)
    expect(await askNode(dataDir, push)).toBeUndefined()
  })

  test('when the objects are not in the repository of the node', async () => {
    const { dataDir, gitdir, asked } = await scene()
    const elsewhere = tempDir('elsewhere')
    const link = join(gitdir, 'objects', 'link')
    symlinkSync(elsewhere, link)
    const places = [elsewhere, link, join(gitdir, 'objects', '..', '..'), join(gitdir, 'nothing')]
    for (const incoming of places) {
      expect(await askNode(dataDir, { ...push, incoming })).toBeUndefined()
    }
    expect(asked).toEqual([])
  })
})

describe('a question that is none ends the connection:', () => {
  const whole = { head, incoming: null, attestations: [] }
  test.each([
    ['no JSON', '{'],
    ['nothing', 'null'],
    ['a head that is no commit', JSON.stringify({ ...whole, head: 'main' })],
    ['a place that is none', JSON.stringify({ ...whole, incoming: 1 })],
    ['attestations that are none', JSON.stringify({ ...whole, attestations: [[head]] })],
    ['no attestations', JSON.stringify({ ...whole, attestations: null })],
    ['without an end', 'x'.repeat(2_000_000)],
  ])('%s', async (_, line) => {
    const { path, asked } = await scene()
    const socket = connect(path).on('error', () => undefined)
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.resume().write(`${line}${line.length > 1_000_000 ? '' : '\n'}`)
    await closed
    expect(asked).toEqual([])
  })
})

test('any line is read or refused', () => {
  check(
    property(string(), (line) => {
      expect(readPushedHead(line).ok).toBe(false)
      expect(readVerdict(line)).toBeUndefined()
    }),
  )
  expect(readVerdict(JSON.stringify({ ...stop, diagnostics: [{}] }))).toBeUndefined()
})
