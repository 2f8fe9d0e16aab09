// Tests a probe agent's reports over HTTP: which parts a control node takes, and whom it tells how
// much.
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readAgentReport, agentReportLimits } from '#fleet/agent/agent-report.ts'
import { AgentReportSender } from '#fleet/agent/report-sender.ts'
import type { SentVerdict, SentReport } from '#fleet/agent/report-bodies.ts'

const memberUid = '0191f7a4-5b00-7000-8000-000000000001'
const owner = { memberUid, ipAddress: '192.0.2.1' }
const word = {
  ...{ ...owner, healthy: false, score: 0.5, rttMs: 12.5, reason: 'connection refused' },
  ...{ sinceMs: 1_700_000_000_000, isWarming: true },
}
const words = { node: 'agent-1', site: 'fra1', changed: [word], withdrawn: [owner] }

describe('words of an agent', () => {
  test('are taken with the name of who says them, and the time of who hears them', () => {
    const extra = { ...word, node: 'somebody', atMs: 1, more: true }
    expect(readAgentReport({ ...words, changed: [extra], isAgent: false }, 77)).toEqual({
      ok: true,
      value: {
        ...{ node: 'agent-1', site: 'fra1', isAgent: true, atMs: 77, withdrawn: [owner] },
        changed: [{ ...word, node: 'agent-1', atMs: 77 }],
      },
    })
  })

  test('have no control characters in their reasons', () => {
    const read = readAgentReport({ ...words, changed: [{ ...word, reason: 'a\u001b[31m' }] }, 7)
    expect(read.ok && read.value.changed[0]!.reason).toBe('a?[31m')
  })

  test('in the name of the node that hears them are refused, with what to do', () => {
    const read = readAgentReport(words, 7, 'agent-1')
    expect(read).toEqual({
      ok: false,
      error: 'node: a control node is agent-1: give the agent another state.nodeName',
    })
  })

  const many = Array.from({ length: agentReportLimits.membersMax + 1 }, () => owner)
  test.each<[string, string, unknown]>([
    ['nothing', 'JSON object', null],
    ['no name', 'node', { ...words, node: '' }],
    ['a name with a space', 'node', { ...words, node: 'a b' }],
    ['a site that is a path', 'site', { ...words, site: '../x' }],
    ['no list', 'changed', { ...words, changed: {} }],
    ['too many members', 'withdrawn', { ...words, withdrawn: many }],
    ['a uid that is none', 'changed', { ...words, changed: [{ ...word, memberUid: 'm1' }] }],
    ['a name for an address', 'changed', { ...words, changed: [{ ...word, ipAddress: 'a.b' }] }],
    [
      'an address with a zone',
      'withdrawn',
      { ...words, withdrawn: [{ ...owner, ipAddress: 'fe80::1%0' }] },
    ],
    ['a word for a truth', 'changed', { ...words, changed: [{ ...word, healthy: 'yes' }] }],
    ['a score above 1', 'changed', { ...words, changed: [{ ...word, score: 2 }] }],
    ['a time below zero', 'changed', { ...words, changed: [{ ...word, rttMs: -1 }] }],
    ['a time without an end', 'changed', { ...words, changed: [{ ...word, sinceMs: 1e300 }] }],
    ['a long reason', 'changed', { ...words, changed: [{ ...word, reason: 'x'.repeat(201) }] }],
  ])('with %s are refused, and the field is named: %s', (_what, field, value) => {
    const read = readAgentReport(value, 7)
    expect(read.ok ? 'taken' : read.error).toContain(field)
  })

  test('in any form are accepted or refused, and never throw', () => {
    const anything = fc.anything({ maxDepth: 4 })
    const almost = fc.record(
      {
        node: anything,
        site: anything,
        changed: fc.array(anything),
        withdrawn: fc.array(anything),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(anything, almost), (value) => {
        expect(typeof readAgentReport(value, 7).ok).toBe('boolean')
      }),
    )
  })
})

interface Heard {
  readonly authorization: string | undefined
  readonly path: string | undefined
  readonly uids: readonly string[]
}

/** A control node as an agent meets it. */
async function control(instance: () => string, status = () => 200) {
  const heard: Heard[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = (await json(request)) as typeof words
    const read = readAgentReport(body, 7)
    if (!read.ok) return void response.writeHead(400).end(read.error)
    const { authorization } = request.headers
    const uids = body.changed.map((one) => one.memberUid)
    if (status() === 200) heard.push({ authorization, path: request.url, uids })
    response.writeHead(status(), { 'content-type': 'application/json' })
    response.end(JSON.stringify({ instance: instance() }))
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, heard, counts: () => heard.splice(0).map(({ uids }) => uids.length) }
}

const uid = (i: number): string => `0191f7a4-5b00-7000-8000-${String(i).padStart(12, '0')}`
const some = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ ...word, memberUid: uid(from + i) }))
const update = (
  changed: readonly SentVerdict[],
  withdrawn: SentReport['withdrawn'] = [],
): SentReport => ({ node: 'agent-1', site: 'fra1', changed, withdrawn })

test('an agent tells what is new, and all of it again to another process', async () => {
  let instance = 'a'
  const { url, heard, counts } = await control(() => instance)
  const { publish } = new AgentReportSender({ urls: [url], token: 'secret' })
  await publish(update(some(3)))
  expect(heard[0]).toMatchObject({ authorization: 'Bearer secret', path: '/bundles/health' })
  expect(counts()).toEqual([3, 3])
  await publish(update(some(1, 3), some(2)))
  expect(counts()).toEqual([1])
  instance = 'b'
  await publish(update([]))
  expect(counts()).toEqual([0, 2])
})

test('an agent tells the first control node that takes it, in parts', async () => {
  let isDown = true
  const first = await control(
    () => 'a',
    () => (isDown ? 503 : 200),
  )
  const second = await control(() => 'b')
  const { publish } = new AgentReportSender({ urls: [`${first.url}/x`, second.url], token: null })
  for (const from of [0, 1_000]) await publish(update(some(1_000, from)))
  expect([first.counts(), second.counts()]).toEqual([[], [1_000, 1_000, 1_000]])
  isDown = false
  await publish(update(some(1, 2_000)))
  expect([first.heard[0]?.path, second.counts()]).toEqual(['/x/bundles/health', []])
  expect(first.counts()).toEqual([1, 1_000, 1_000, 1])
})

test('a report that no node takes is a failure with a reason, and is kept', async () => {
  let isDown = true
  const { url, counts } = await control(
    () => 'a',
    () => (isDown ? 500 : 200),
  )
  const { publish } = new AgentReportSender({ urls: [url], token: null })
  await expect(publish(update(some(2)))).rejects.toThrow(/127\.0\.0\.1/)
  isDown = false
  await publish(update([]))
  expect(counts()).toEqual([0, 2])
})

test('an agent that was heard by two processes tells all of it again', async () => {
  let count = 0
  const { url, counts } = await control(() => (count++ < 3 ? `p${count}` : 'p3'))
  const { publish } = new AgentReportSender({ urls: [url], token: null })
  // The first of two parts was heard by a process that is not there any more.
  await publish(update(some(1_001)))
  expect(counts()).toEqual([1_000, 1, 1_000, 1])
  await publish(update([]))
  expect(counts()).toEqual([0])
})

test('a receiver that does not name its process gets a full report each time', async () => {
  const { url, counts } = await control(() => '')
  const { publish } = new AgentReportSender({ urls: [url], token: null })
  await publish(update(some(2)))
  await publish(update([]))
  expect(counts()).toEqual([2, 2, 0, 2])
})

test('an agent is heard when all of its members have the longest reasons', async () => {
  const { url, counts } = await control(() => 'a')
  const { publish } = new AgentReportSender({ urls: [url], token: null })
  const changed = some(1_000).map((one) => ({ ...one, reason: '"'.repeat(1_000), node: 'agent-1' }))
  await publish(update(changed))
  const sent = counts()
  expect(sent).toHaveLength(4)
  expect(sent.reduce((sum, members) => sum + members, 0)).toBe(2_000)
})

test('a reason that is too long is cut, and costs no other word', async () => {
  const { url, counts } = await control(() => 'a')
  const { publish } = new AgentReportSender({ urls: [url], token: null })
  const long = { ...word, reason: `HTTP 500, expected ${'200, '.repeat(50)}` }
  await publish(update([long, ...some(1, 2)]))
  expect(counts()).toEqual([2, 2])
})
