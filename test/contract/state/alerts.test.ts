// Alerts: channels, silences, what nodes find, who leads, and what waits to be sent.
import { describe, expect, test } from 'vitest'
import { alertLimits, operatorId } from '#state/ports/alerts.ts'
import type { AlertChanges, AlertLease } from '#state/ports/alerts.ts'
import { newAlert, newChannel, newFinding, newSilence } from '#test/support/alerts.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'

const acme = { tenantId: 'acme' }
const zenith = { tenantId: 'zenith' }
const nowMs = 1_000_000

describe.each(persistentAdapters)('alerts in %s', (_name, adapter) => {
  const state = useState(adapter)
  const store = () => state().alerts
  const lead = async (): Promise<AlertLease> => {
    const lease = await valueOf(store().takeLease(await valueOf(store().lease()), 'n1/1'))
    if (lease === null) expect.unreachable('nobody else leads')
    return lease
  }
  const record = async (term: number, changes: Partial<AlertChanges>) =>
    valueOf(
      store().record(term, {
        ...{ opened: [], updated: [], resolved: [], nowMs, readyAtMs: nowMs },
        ...changes,
      }),
    )
  const due = async (atMs = nowMs, busy: readonly string[] = []) =>
    (await valueOf(store().due(atMs, busy))).map(
      ({ channelId, event, alert }) => `${channelId} ${event} ${alert.id}`,
    )
  const noticesOf = async (channelId: string, atMs = nowMs) =>
    (await valueOf(store().due(atMs, []))).filter((notice) => notice.channelId === channelId)
  const settle = (message: string, outcome: Parameters<typeof failed>[0] | null, atMs = nowMs) =>
    store().settleMessage('c1', message, outcome === null ? { ok: true } : failed(outcome), {
      nowMs: atMs,
      retryAtMs: atMs + 5_000,
    })
  const failed = (isFinal: boolean) => ({ ok: false, fault: 'HTTP 500', isFinal }) as const

  test('channels are found by their own tenant alone, and changed in parts', async () => {
    await valueOf(store().createChannel(newChannel('c1')))
    await valueOf(store().createChannel(newChannel('c2', { tenantId: 'zenith' })))
    await valueOf(store().createChannel(newChannel('c0', { tenantId: operatorId })))
    const namesOf = async (scope: Parameters<ReturnType<typeof store>['listChannels']>[0]) =>
      (await valueOf(store().listChannels(scope))).map(({ id }) => id)
    expect(await namesOf(acme)).toEqual(['c1'])
    expect(await namesOf('every-tenant')).toEqual(['c0', 'c1', 'c2'])
    expect(await valueOf(store().findChannel(zenith, 'c1'))).toBeNull()
    const found = await valueOf(store().findChannel(acme, 'c1'))
    const health = { lastSentAtMs: null, failures: 0, fault: '', retryAtMs: 0, dropped: 0 }
    expect(found).toEqual({ ...newChannel('c1'), health: { ...health, queued: 0 } })
    const change = { conditions: ['disk'], secrets: [], updatedAtMs: 7 }
    expect(await valueOf(store().updateChannel(zenith, 'c1', change))).toBeNull()
    const changed = await valueOf(store().updateChannel(acme, 'c1', change))
    expect(changed).toEqual({ ...found, ...change })
    expect(await valueOf(store().deleteChannel(zenith, 'c1'))).toBe(false)
    expect(await valueOf(store().deleteChannel(acme, 'c1'))).toBe(true)
    expect(await namesOf(acme)).toEqual([])
  })

  test('a name is taken within its tenant, and a tenant has a limit', async () => {
    await valueOf(store().createChannel(newChannel('c1')))
    const again = newChannel('c2', { name: 'c1' })
    expect(await store().createChannel(again)).toMatchObject({ error: { code: 'name-taken' } })
    await valueOf(store().createChannel({ ...again, tenantId: 'zenith' }))
    await valueOf(store().createChannel(newChannel('c3')))
    const renamed = await store().updateChannel(acme, 'c3', { name: 'c1', updatedAtMs: 2 })
    expect(renamed).toMatchObject({ error: { code: 'name-taken' } })
    const many = Array.from({ length: alertLimits.channelsPerTenantMax }, (_, i) => `d${i}`)
    const made = await Promise.all(many.map((id) => store().createChannel(newChannel(id))))
    const refused = made.flatMap((one) => (one.ok ? [] : [one.error.code]))
    expect(refused).toEqual(['too-many-channels', 'too-many-channels'])
  })

  test('silences end, and belong to their tenant', async () => {
    await valueOf(store().createSilence(newSilence('s1')))
    await valueOf(store().createSilence(newSilence('s2', { tenantId: 'zenith' })))
    const ids = async (atMs: number) =>
      (await valueOf(store().listSilences(acme, atMs))).map(({ id }) => id)
    expect(await ids(nowMs)).toEqual(['s1'])
    expect(await ids(newSilence('s1').untilMs)).toEqual([])
    expect(await valueOf(store().deleteSilence(zenith, 's1'))).toBe(false)
    expect(await valueOf(store().deleteSilence(acme, 's1'))).toBe(true)
    expect(await ids(nowMs)).toEqual([])
  })

  test('the word of a node replaces the one before, and each is a beat', async () => {
    await valueOf(store().report('n1', 'abc', [newFinding('p1')]))
    await valueOf(store().report('n2', '', null))
    await valueOf(store().report('n1', 'def', null))
    expect(await valueOf(store().reports())).toEqual([
      { node: 'n1', beat: 2, commit: 'def', findings: [newFinding('p1')] },
      { node: 'n2', beat: 1, commit: '', findings: [] },
    ])
    await valueOf(store().retire('n2'))
    await valueOf(store().report('n1', 'def', []))
    expect(await valueOf(store().reports())).toMatchObject([{ node: 'n1', findings: [] }])
  })

  test('have one leader of many candidates, and a lost term writes nothing', async () => {
    const takers = Array.from({ length: 8 }, (_, i) => store().takeLease(null, `n${i}/1`))
    const taken = (await Promise.all(takers.map(valueOf))).filter((lease) => lease !== null)
    expect(taken).toHaveLength(1)
    const [first] = taken as [AlertLease]
    const renewed = await valueOf(store().renewLease(first))
    expect(renewed).toEqual({ ...first, beat: 1 })
    // It was renewed since it was seen.
    expect(await valueOf(store().takeLease(first, 'late/1'))).toBeNull()
    const second = await valueOf(store().takeLease(renewed, 'n9/1'))
    expect(second).toEqual({ holder: 'n9/1', term: first.term + 1, beat: 0 })
    expect(await valueOf(store().renewLease(renewed!))).toBeNull()
    await valueOf(store().createChannel(newChannel('c1')))
    const opened = [{ alert: newAlert('a1'), channels: ['c1'] }]
    expect(await record(first.term, { opened })).toBe('term-over')
    expect(await record(second!.term, { opened })).toBe('recorded')
    const [notice] = await noticesOf('c1')
    expect(await valueOf(store().beginMessage(first.term, 'm1', [notice!.id]))).toBe('term-over')
    await valueOf(store().releaseLease(second!))
    expect(await record(second!.term, { resolved: ['a1'] })).toBe('term-over')
    expect(await valueOf(store().lease())).toMatchObject({ holder: '' })
  })

  test('an alert is open once, and is listed to its tenant, newest first', async () => {
    const { term } = await lead()
    const opened = ['a1', 'a2', 'a3'].map((id) => ({ alert: newAlert(id), channels: [] }))
    await record(term, { opened })
    const twice = { ...newAlert('a9'), subject: newAlert('a1').subject }
    await record(term, { opened: [{ alert: twice, channels: [] }] })
    const other = newAlert('b1', { tenantId: 'zenith' })
    await record(term, { opened: [{ alert: other, channels: [] }], resolved: ['a2'] })
    const ids = async (query: { readonly state?: 'open' | 'resolved'; readonly before?: string }) =>
      (await valueOf(store().listAlerts(acme, { before: '', limit: 2, ...query }))).map(
        ({ id }) => id,
      )
    expect(await ids({})).toEqual(['a3', 'a2'])
    expect(await ids({ before: 'a2' })).toEqual(['a1'])
    expect(await ids({ state: 'open' })).toEqual(['a3', 'a1'])
    expect(await ids({ state: 'resolved' })).toEqual(['a2'])
    // It ended: the same may begin anew.
    const anew = { ...newAlert('a4'), subject: newAlert('a2').subject }
    await record(term, { opened: [{ alert: anew, channels: [] }] })
    const words = { severity: 'info', title: 't', detail: 'd' } as const
    await record(term, { updated: [{ id: 'a4', ...words, channels: [] }] })
    const [newest] = await valueOf(store().listAlerts(acme, { before: '', limit: 1 }))
    expect(newest).toEqual({ ...anew, ...words })
  })

  test('an end is told to whoever may have heard of the beginning, and to none else', async () => {
    const { term } = await lead()
    for (const id of ['c1', 'c2']) await valueOf(store().createChannel(newChannel(id)))
    await record(term, {
      opened: [{ alert: newAlert('a1'), channels: ['c1', 'c2', 'gone'] }],
      readyAtMs: nowMs + 10,
    })
    expect(await due()).toEqual([])
    expect(await due(nowMs + 10)).toEqual(['c1 opened a1', 'c2 opened a1'])
    expect(await due(nowMs + 10, ['c1'])).toEqual(['c2 opened a1'])
    const [notice] = await noticesOf('c1', nowMs + 10)
    expect(await valueOf(store().beginMessage(term, 'm1', [notice!.id]))).toBe('begun')
    await record(term, { resolved: ['a1'], nowMs: nowMs + 20 })
    // c1 may have it, as nobody knows whether the message went out; c2 never heard of it.
    expect(await due(nowMs + 20)).toEqual(['c1 opened a1', 'c1 resolved a1'])
    await valueOf(settle('m1', null, nowMs + 20))
    expect(await due(nowMs + 20)).toEqual(['c1 resolved a1'])
  })

  test('what becomes more severe is told again, and its end to whoever was told', async () => {
    const { term } = await lead()
    for (const id of ['c1', 'c2', 'c3']) await valueOf(store().createChannel(newChannel(id)))
    await record(term, { opened: [{ alert: newAlert('a1'), channels: ['c1'] }] })
    const tell = async (channel: string, message: string): Promise<void> => {
      const notices = (await noticesOf(channel)).map(({ id }) => id)
      await valueOf(store().beginMessage(term, message, notices))
      await valueOf(store().settleMessage(channel, message, { ok: true }, { nowMs, retryAtMs: 0 }))
    }
    const words = { severity: 'critical', title: 't', detail: 'd' } as const
    const rise = { id: 'a1', ...words, channels: ['c1', 'c2'] }
    // It waits, and tells the rise by itself.
    await record(term, { updated: [rise] })
    expect(await due()).toEqual(['c1 opened a1', 'c2 opened a1'])
    await tell('c1', 'm1')
    await tell('c2', 'm2')
    expect(await due()).toEqual([])
    await record(term, { updated: [{ ...rise, channels: ['c1', 'c2', 'c3'] }] })
    expect(await due()).toEqual(['c1 opened a1', 'c2 opened a1', 'c3 opened a1'])
    await tell('c2', 'm3')
    // c1 knows the alert, though not how severe it was; c3 never heard of it.
    await record(term, { resolved: ['a1'] })
    expect(await due()).toEqual(['c1 resolved a1', 'c2 resolved a1'])
  })

  test('what some receivers refuse is sent, and said', async () => {
    const { term } = await lead()
    await valueOf(store().createChannel(newChannel('c1')))
    await record(term, { opened: [{ alert: newAlert('a1'), channels: ['c1'] }] })
    const [notice] = await noticesOf('c1')
    await valueOf(store().beginMessage(term, 'm1', [notice!.id]))
    const times = { nowMs, retryAtMs: nowMs + 5_000 }
    const outcome = { ok: true, fault: 'settings.to[1] (550)' } as const
    await valueOf(store().settleMessage('c1', 'm1', outcome, times))
    const { health } = (await valueOf(store().findChannel(acme, 'c1')))!
    const said = { fault: outcome.fault, failures: 0, queued: 0, retryAtMs: 0 }
    expect(health).toMatchObject({ ...said, lastSentAtMs: nowMs })
  })

  test('a failure holds its channel back, and what was tried keeps its id', async () => {
    const { term } = await lead()
    for (const id of ['c1', 'c2']) await valueOf(store().createChannel(newChannel(id)))
    await record(term, { opened: [{ alert: newAlert('a1'), channels: ['c1', 'c2'] }] })
    const [notice] = await noticesOf('c1')
    await valueOf(store().beginMessage(term, 'm1', [notice!.id]))
    await valueOf(settle('m1', false))
    expect(await due()).toEqual(['c2 opened a1'])
    const [again] = await noticesOf('c1', nowMs + 5_000)
    expect(again).toMatchObject({ id: notice!.id, messageId: 'm1' })
    const health = async () => (await valueOf(store().findChannel(acme, 'c1')))?.health
    const retryAtMs = nowMs + 5_000
    expect(await health()).toMatchObject({ failures: 1, fault: 'HTTP 500', retryAtMs, queued: 1 })
    await valueOf(settle('m1', null, retryAtMs))
    expect(await health()).toMatchObject({ failures: 0, fault: '', lastSentAtMs: retryAtMs })
    expect(await due(retryAtMs)).toEqual(['c2 opened a1'])
  })

  test.each([
    ['what is refused for good is dropped', true, 0],
    ['what is too old is dropped', false, alertLimits.noticeKeptMs + 1],
  ])('%s, and counted', async (_case, isFinal, ageMs) => {
    const { term } = await lead()
    await valueOf(store().createChannel(newChannel('c1')))
    await record(term, { opened: [{ alert: newAlert('a1'), channels: ['c1'] }] })
    const [notice] = await noticesOf('c1')
    await valueOf(store().beginMessage(term, 'm1', [notice!.id]))
    await valueOf(settle('m1', isFinal, nowMs + ageMs))
    const found = await valueOf(store().findChannel(acme, 'c1'))
    expect(found?.health).toMatchObject({ dropped: 1, queued: 0, failures: 1 })
  })

  test('a queue that is full takes no more, and counts what it leaves out', async () => {
    const { term } = await lead()
    await valueOf(store().createChannel(newChannel('c1')))
    const count = alertLimits.noticesPerChannelMax + 3
    const opened = Array.from({ length: count }, (_, i) => ({
      alert: newAlert(`a${i}`),
      channels: ['c1'],
    }))
    await record(term, { opened })
    const found = await valueOf(store().findChannel(acme, 'c1'))
    const queued = alertLimits.noticesPerChannelMax
    expect(found?.health).toMatchObject({ queued, dropped: 3 })
    expect(await due()).toHaveLength(alertLimits.noticesPerMessageMax)
    // Turned off, it forgets them.
    await valueOf(store().updateChannel(acme, 'c1', { enabled: false, updatedAtMs: 2 }))
    expect(await due()).toEqual([])
    await valueOf(store().updateChannel(acme, 'c1', { enabled: true, updatedAtMs: 3 }))
    expect(await due()).toEqual([])
  })

  test('tenants fill half of a channel of the operator, and no more', async () => {
    const { term } = await lead()
    await valueOf(store().createChannel(newChannel('c0', { tenantId: operatorId })))
    const half = alertLimits.noticesPerChannelMax / 2
    const alert = (id: string, tenantId: string) => ({
      ...{ alert: newAlert(id, { tenantId }), channels: ['c0'] },
    })
    const ofTenant = Array.from({ length: half + 3 }, (_, i) => alert(`a${i}`, 'acme'))
    await record(term, { opened: [...ofTenant, alert('o1', operatorId)] })
    const found = await valueOf(store().findChannel('every-tenant', 'c0'))
    expect(found?.health).toMatchObject({ queued: half + 1, dropped: 3 })
  })

  test('ended alerts of one tenant push out none of the others', async () => {
    const { term } = await lead()
    const alertsOf = (tenantId: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({
        ...{ alert: newAlert(`${tenantId}-${10_000 + i}`, { tenantId }), channels: [] },
      }))
    const opened = [...alertsOf('acme', 3), ...alertsOf('zenith', 40), ...alertsOf('zoo', 4)]
    await record(term, { opened })
    await record(term, { resolved: opened.slice(0, -1).map(({ alert }) => alert.id) })
    await valueOf(store().prune(nowMs, 13))
    const left = await valueOf(store().listAlerts('every-tenant', { before: '', limit: 99 }))
    const count = (tenant: string): number => left.filter((one) => one.tenantId === tenant).length
    expect(['acme', 'zenith', 'zoo'].map(count)).toEqual([3, 6, 4])
  })

  test.each([
    ['of its condition', { condition: 'disk' }, true],
    ['of its subject', { subject: 'of a1' }, true],
    ['of another condition', { condition: 'licence' }, false],
    ['of another subject', { subject: 'of a2' }, false],
    ['of another tenant', { tenantId: 'zenith' }, false],
    ['that has ended', { untilMs: nowMs }, false],
  ])('a silence %s holds back what begins, until it ends', async (_case, silence, isHeld) => {
    const { term } = await lead()
    await valueOf(store().createChannel(newChannel('c1')))
    await valueOf(store().createSilence(newSilence('s1', silence)))
    await record(term, { opened: [{ alert: newAlert('a1'), channels: ['c1'] }] })
    expect(await due()).toEqual(isHeld ? [] : ['c1 opened a1'])
    expect(await due(newSilence('s1').untilMs)).toEqual(['c1 opened a1'])
  })

  test.each<[string, readonly ('silence' | 'alert')[]]>([
    ['begins under it', ['silence', 'alert']],
    ['waits already', ['alert', 'silence']],
  ])(
    'a silence of days takes nothing of the day in which is sent what %s',
    async (_case, order) => {
      const { term } = await lead()
      await valueOf(store().createChannel(newChannel('c1')))
      const untilMs = nowMs + 3 * alertLimits.noticeKeptMs
      for (const what of order) {
        if (what === 'alert') {
          await record(term, { opened: [{ alert: newAlert('a1'), channels: ['c1'] }] })
        } else {
          const shorter = newSilence('s1', { createdAtMs: nowMs, untilMs: nowMs + 5 })
          await valueOf(store().createSilence(shorter))
          await valueOf(store().createSilence({ ...shorter, id: 's2', untilMs }))
        }
      }
      expect(await due(untilMs - 1)).toEqual([])
      const [notice] = await noticesOf('c1', untilMs)
      await valueOf(store().beginMessage(term, 'm1', [notice!.id]))
      await valueOf(settle('m1', false, untilMs + alertLimits.noticeKeptMs - 1))
      const health = async () => (await valueOf(store().findChannel(acme, 'c1')))?.health
      expect(await health()).toMatchObject({ dropped: 0, queued: 1 })
      await valueOf(settle('m1', false, untilMs + alertLimits.noticeKeptMs + 1))
      expect(await health()).toMatchObject({ dropped: 1, queued: 0 })
    },
  )

  test('old alerts and silences go, open ones stay', async () => {
    const { term } = await lead()
    const opened = ['a1', 'a2'].map((id) => ({ alert: newAlert(id), channels: [] }))
    await record(term, { opened })
    await record(term, { resolved: ['a1'] })
    await valueOf(store().createSilence(newSilence('s1')))
    await valueOf(store().prune(nowMs + alertLimits.alertKeptMs + 1))
    const left = await valueOf(store().listAlerts('every-tenant', { before: '', limit: 9 }))
    expect(left.map(({ id }) => id)).toEqual(['a2'])
    expect(await valueOf(store().listSilences('every-tenant', 0))).toEqual([])
  })
})
