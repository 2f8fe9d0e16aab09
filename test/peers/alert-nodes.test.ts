// Two nodes on one PostgreSQL: an alert is told once, and at least once when the one that tells it
// is killed in between.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { seal } from '#lib/secret-box.ts'
import { createPersistent } from '#state/persistent.ts'
import type { PersistentState } from '#state/persistent.ts'
import { newChannel } from '#test/support/alerts.ts'
import { startPostgres } from '#test/support/postgres-server.ts'
import type { PostgresServer } from '#test/support/postgres-server.ts'
import { startReceiver } from '#test/support/receivers.ts'
import { valueOf } from '#test/support/store-values.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const home = makeTempDir('alert-nodes')
const fault = join(home, 'fault')
const program = join(import.meta.dirname, '../support/alert-node.ts')
let postgres: PostgresServer
let state: PersistentState
const children: ChildProcess[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  const opened = await createPersistent({ url: postgres.url, dataDir: '', clock: systemClock })
  if (!opened.ok) throw new Error(opened.error)
  state = opened.value
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await state.close()
  await postgres.stop()
  removeTempDir(home)
})

function startNode(name: string) {
  const child = spawn(process.execPath, [program, postgres.url, name, fault], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const node = { output: '', ended: new Promise((resolve) => child.once('close', resolve)), child }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (node.output += chunk))
  return node
}
const addChannel = (id: string, url: string) =>
  valueOf(
    state.alerts.createChannel(
      newChannel(id, {
        secretCiphertext: seal(Buffer.alloc(32, 7), JSON.stringify({ url, secret: 'x' })),
      }),
    ),
  )
interface Body {
  readonly id: string
  readonly alerts: readonly { readonly id: string; readonly event: string }[]
}
const bodyOf = ({ body }: { readonly body: string }): Body => JSON.parse(body) as Body
const eventsOf = (posts: readonly { readonly body: string }[]): string[] =>
  posts.flatMap((post) => bodyOf(post).alerts.map(({ event }) => event))

test('a finding of both nodes is sent once, and its end once', async () => {
  const receiver = await startReceiver()
  await addChannel('c1', receiver.url)
  const nodes = [startNode('n1'), startNode('n2')]
  await waitUntil('a leader', () => nodes.some(({ output }) => output.includes('leads')))
  await waitUntil('both nodes', async () => (await valueOf(state.alerts.reports())).length === 2)
  writeFileSync(fault, '')
  await waitUntil('the alert', () => receiver.posts.length > 0)
  const told = async () =>
    (await valueOf(state.alerts.reports())).every(({ findings }) => findings.length === 1)
  await waitUntil('both to tell it', told)
  rmSync(fault)
  // What is found in the first half minute stays that long; the end is over for 15 s.
  await waitUntil('the end', () => eventsOf(receiver.posts).includes('resolved'))
  expect(eventsOf(receiver.posts)).toEqual(['opened', 'resolved'])
  expect(nodes.filter(({ output }) => output.includes('leads'))).toHaveLength(1)
  for (const { child } of nodes) child.kill('SIGTERM')
  await Promise.all(nodes.map(({ ended }) => ended))
  expect(await valueOf(state.alerts.reports())).toEqual([])
  await valueOf(state.alerts.deleteChannel('every-tenant', 'c1'))
  await receiver.stop()
})

test('when the leader is killed while it tells, the other tells it', async () => {
  let isHanging = true
  const receiver = await startReceiver((_post, response) => {
    if (!isHanging) response.writeHead(204).end()
  })
  await addChannel('c2', receiver.url)
  const first = startNode('n1')
  await waitUntil('the first to lead', () => first.output.includes('leads'))
  const second = startNode('n2')
  await waitUntil('both nodes', async () => (await valueOf(state.alerts.reports())).length === 2)
  writeFileSync(fault, '')
  await waitUntil('the message on its way', () => receiver.posts.length === 1)
  first.child.kill('SIGKILL')
  await first.ended
  isHanging = false
  await waitUntil('the second to lead', () => second.output.includes('leads'))
  await waitUntil('the message again', () => receiver.posts.length > 1)
  await waitUntil('an empty queue', async () => {
    const channel = await valueOf(state.alerts.findChannel('every-tenant', 'c2'))
    return channel?.health.queued === 0
  })
  // The same message under the same id, and no third one.
  expect(new Set(receiver.posts.map((post) => bodyOf(post).id)).size).toBe(1)
  expect(eventsOf(receiver.posts)).toEqual(['opened', 'opened'])
  second.child.kill('SIGTERM')
  await second.ended
  await receiver.stop()
})
