import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { systemKey } from '#access/auth/policy.ts'
import type { AuthPolicy } from '#access/auth/policy.ts'
import { createApp } from '#api/server/app.ts'
import type { SignedChannelRecord } from '#bundle/signature/channel.ts'
import { BundleDeltas } from '#fleet/bundle-deltas.ts'
import { PackedBundles } from '#fleet/packed-bundles.ts'
import { readerOf } from '#test/support/octet-reader.ts'
import { applyDelta } from '#fleet/delta.ts'
import { BundleFeed } from '#fleet/bundle-feed.ts'
import { BundleFiles } from '#fleet/bundle-files.ts'
import { readNodeReport } from '#fleet/nodes/node-report.ts'
import { readAgentReport } from '#fleet/agent/agent-report.ts'
import type { AgentReport } from '#fleet/agent/agent-report.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import { err, ok } from '#lib/result.ts'
import type { After } from '#lib/timer.ts'
import { devMode, noSessions, portsOf } from '#test/support/api-ports.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { signedBundle, signedRecord } from '#test/support/bundle-source.ts'
import { reportOf } from '#test/support/node-reports.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const rootKey = 'r'.repeat(64)
const token = 't'.repeat(32)
const asPuller = { authorization: `Bearer ${token}` }
const key = newSigningKey()
const bundle = signedBundle(key)
const older = signedBundle(key, 2)
const recordUrl = '/bundles/channels/main'
const bundleUrl = `/bundles/${bundle.digest}`

const guarded: AuthPolicy = {
  ...{ ...devMode, systemKey: systemKey(rootKey), bundleToken: systemKey(token) },
}

function scene({ waitersMax = 2, transfersMax = 2, isAway = false, auth = guarded } = {}) {
  const directory = tempDir('bundles')
  writeFileSync(join(directory, bundle.digest), bundle.bytes)
  let active: SignedChannelRecord | undefined = signedRecord(key, { digest: bundle.digest })
  const timers: (() => void)[] = []
  const told: NodeReport[] = []
  const heard: AgentReport[] = []
  const audited: string[] = []
  const after: After = (_delayMs, fn) => {
    timers.push(fn)
    return () => undefined
  }
  const feed = new BundleFeed({ stored: () => active, after, waitersMax })
  const files = new BundleFiles((digest) => join(directory, digest), transfersMax)
  const pathOf = (digest: string): string => join(directory, digest)
  writeFileSync(pathOf(older.digest), older.bytes)
  const packed = new PackedBundles(join(directory, 'packed'), pathOf)
  const deltas = new BundleDeltas(pathOf)
  const ports = portsOf({
    auth,
    audit: { write: ({ path }) => audited.push(path) },
    sessions: noSessions,
    bundles: {
      takeReport: (value) => {
        const report = readNodeReport(value)
        if (report.ok) told.push(report.value)
        return report.ok ? ok(report.value) : report
      },
      heard: async (value) => {
        const words = readAgentReport(value, 7)
        if (!words.ok) return words
        heard.push(words.value)
        return isAway ? err(null) : ok({ instance: 'ab'.repeat(8) })
      },
      journal: async () => err({ code: isAway ? 'away' : 'no-database' }),
      keys: ({ revision }) => {
        if (isAway) return err({ code: 'away', message: 'of another GSLB_SECRET_KEY' })
        return ok(revision === 7 ? null : Buffer.from([1, 2, 3]))
      },
      ...{ record: (channel) => feed.record(channel), certificate: () => ok(null) },
      shadowFor: () => '',
      waitForOther: (_, tag, waitMs) => feed.waitForOther(tag, waitMs),
      open: (digest) => files.open(digest),
      openPacked: async (digest) => {
        const path = await packed.path(digest)
        return path === undefined ? undefined : files.openPath(path)
      },
      delta: (from, to) => deltas.get(from, to),
    },
  })
  const app = createApp(ports, [])
  const post = (url: string, payload: object, headers: Record<string, string> = asPuller) =>
    app.inject({ method: 'POST', url, headers, payload })
  const get = (url: string, headers: Record<string, string> = asPuller) =>
    app.inject({ url, headers })
  const change = (seq: number): void => {
    active = signedRecord(key, { digest: bundle.digest, seq })
    feed.changed()
  }
  return {
    get,
    post,
    ...{ told, heard },
    audited,
    change,
    feed,
    files,
    runTimers: () => timers.splice(0).forEach((fn) => fn()),
  }
}

describe('permission to read bundles', () => {
  test.each([
    ['the system key', `Bearer ${rootKey}`, 200],
    ['the token of nodes that pull', `Bearer ${token}`, 200],
    ['another token', `Bearer ${'x'.repeat(32)}`, 401],
    ['nobody', '', 401],
  ])('%s', async (_who, authorization, status) => {
    for (const url of [recordUrl, bundleUrl]) {
      const answer = await scene().get(url, { authorization })
      expect([url, answer.statusCode]).toEqual([url, status])
    }
  })

  test('the token opens nothing else', async () => {
    const { get } = scene()
    for (const url of ['/metrics', '/api/v1/gitops/status', '/api/v1/auth/me']) {
      expect((await get(url)).statusCode).toBe(401)
    }
  })
})

describe('the record of a channel', () => {
  test('is what was signed, with a tag', async () => {
    const answer = await scene().get(recordUrl)
    expect(answer.json()).toEqual(signedRecord(key, { digest: bundle.digest }))
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-cache' })
    expect(answer.headers.etag).toMatch(/^"[0-9a-f]{32}"$/)
  })

  const absent = [
    ...['/bundles/channels/other', '/bundles/channels/UP', '/bundles/abc'],
    ...[`/bundles/${'a'.repeat(64)}`, '/bundles/..%2F..%2Fetc%2Fpasswd'],
  ]
  test.each(absent)('%s is not there', async (url) => {
    const answer = await scene().get(url)
    expect(answer.statusCode).toBe(404)
    expect(answer.json()).toMatchObject({
      error: expect.stringMatching(/^there is no such /) as string,
    })
  })

  test.each([`${recordUrl}?wait=26`, `${recordUrl}?x=1`, `${recordUrl}?wait=-1`])(
    '%s is refused',
    async (url) => {
      expect((await scene().get(url)).statusCode).toBe(400)
    },
  )

  test('comes at once when there is another one already', async () => {
    const { get } = scene()
    const answer = await get(`${recordUrl}?wait=25`, { ...asPuller, 'if-none-match': '"old"' })
    expect(answer.statusCode).toBe(200)
  })

  test('comes to those who wait when it changes, and as 304 when the time is over', async () => {
    const { get, change, feed, runTimers } = scene()
    const first = await get(recordUrl)
    const headers = { ...asPuller, 'if-none-match': String(first.headers.etag) }
    const waiting = get(`${recordUrl}?wait=25`, headers)
    await expect.poll(() => feed.counts().waiting).toBe(1)
    change(2)
    expect((await waiting).json()).toMatchObject({ record: { seq: 2 } })
    const again = { ...asPuller, 'if-none-match': String((await waiting).headers.etag) }
    const inVain = get(`${recordUrl}?wait=25`, again)
    await expect.poll(() => feed.counts().waiting).toBe(1)
    runTimers()
    expect((await inVain).statusCode).toBe(304)
    expect((await inVain).payload).toBe('')
  })

  test('makes only so many wait: the others come again later', async () => {
    const { get, feed, change } = scene({ waitersMax: 1 })
    const first = await get(recordUrl)
    const headers = { ...asPuller, 'if-none-match': String(first.headers.etag) }
    const waiting = get(`${recordUrl}?wait=25`, headers)
    await expect.poll(() => feed.counts().waiting).toBe(1)
    const turnedAway = await get(`${recordUrl}?wait=25`, headers)
    expect([turnedAway.statusCode, turnedAway.headers['retry-after']]).toEqual([503, '5'])
    expect(feed.counts().turnedAway).toBe(1)
    change(2)
    expect((await waiting).statusCode).toBe(200)
  })

  test('lets those who wait go when the node stops', async () => {
    const { get, feed } = scene()
    const first = await get(recordUrl)
    const headers = { ...asPuller, 'if-none-match': String(first.headers.etag) }
    const waiting = get(`${recordUrl}?wait=25`, headers)
    await expect.poll(() => feed.counts().waiting).toBe(1)
    feed.close()
    expect((await waiting).statusCode).toBe(304)
  })
})

describe('a node that tells of itself', () => {
  const report = reportOf('far-1')

  test('has the record with it, as it would by GET, and is not in the audit log', async () => {
    const { get, post, told, audited } = scene()
    const plain = await get(recordUrl)
    expect(plain.headers['accept-post']).toBe('application/json')
    const answer = await post(recordUrl, { tag: null, report })
    expect([answer.statusCode, answer.payload]).toEqual([200, plain.payload])
    expect(answer.headers.etag).toBe(plain.headers.etag)
    expect([told, audited]).toEqual([[report], []])
  })

  test('waits for a change, or hears that there was none', async () => {
    const { get, post, change, feed, runTimers } = scene()
    const { etag: tag } = (await get(recordUrl)).headers
    const waiting = post(`${recordUrl}?wait=25`, { tag, report })
    await expect.poll(() => feed.counts().waiting).toBe(1)
    change(2)
    expect((await waiting).json()).toMatchObject({ record: { seq: 2 } })
    const inVain = post(`${recordUrl}?wait=25`, { tag: (await waiting).headers.etag, report })
    await expect.poll(() => feed.counts().waiting).toBe(1)
    runTimers()
    expect([(await inVain).statusCode, (await inVain).payload]).toEqual([204, ''])
  })

  test.each([
    ['without a token', { authorization: '' }, { tag: null, report }, 401],
    ['with a name that is none', asPuller, { tag: null, report: { ...report, name: '<b>' } }, 400],
    ['with nothing', asPuller, { tag: null }, 400],
    ['without an end', asPuller, { tag: null, report: { a: 'x'.repeat(25_000) } }, 413],
  ])('%s is refused', async (_what, headers, body, status) => {
    const { post, told } = scene()
    expect((await post(recordUrl, body, headers)).statusCode).toBe(status)
    expect(told).toEqual([])
  })

  test('gets 404 for another channel', async () => {
    const { post, told } = scene()
    const answer = await post('/bundles/channels/other', { tag: null, report })
    expect([answer.statusCode, told]).toEqual([404, []])
  })
})

describe('a bundle', () => {
  test('is the file, which never changes', async () => {
    const answer = await scene().get(bundleUrl)
    expect(answer.rawPayload.equals(Buffer.from(bundle.bytes))).toBe(true)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'cache-control': 'private, max-age=31536000, immutable',
      'content-length': String(bundle.bytes.length),
      etag: `"${bundle.digest}"`,
      vary: 'accept-encoding',
    })
  })

  test('is compressed for who takes that', async () => {
    const answer = await scene().get(bundleUrl, { ...asPuller, 'accept-encoding': 'gzip, zstd' })
    expect(answer.headers['content-encoding']).toBe('zstd')
    expect(zstdDecompressSync(answer.rawPayload).equals(Buffer.from(bundle.bytes))).toBe(true)
    // The bundle was compressed before, and has the length of that.
    expect(answer.headers['content-length']).toBe(String(answer.rawPayload.length))
  })

  test.each(['zstd;q=0', 'gzip', 'identity', 'zstdx'])(
    'is sent as it is to who says %s',
    async (accepted) => {
      const answer = await scene().get(bundleUrl, { ...asPuller, 'accept-encoding': accepted })
      expect(answer.headers['content-encoding']).toBe(undefined)
    },
  )

  test('is made of another one by a delta, which never changes', async () => {
    const { get } = scene()
    const answer = await get(`/bundles/deltas/${bundle.digest}/${older.digest}`)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'cache-control': 'private, max-age=31536000, immutable',
    })
    const made = await applyDelta(answer.rawPayload, readerOf(older.bytes), 1_000_000)
    expect(made.ok && Buffer.compare(made.value, bundle.bytes)).toBe(0)
  })

  test.each([
    `/bundles/deltas/${bundle.digest}/${'a'.repeat(64)}`,
    `/bundles/deltas/${bundle.digest}/${bundle.digest}`,
    `/bundles/deltas/${bundle.digest}/..%2F..%2Fetc%2Fpasswd`,
  ])('%s is no delta', async (url) => {
    expect((await scene().get(url)).statusCode).toBe(404)
  })

  test('is 304 for who has it', async () => {
    const { get, files } = scene()
    const answer = await get(bundleUrl, { ...asPuller, 'if-none-match': `"${bundle.digest}"` })
    expect([answer.statusCode, files.counts().open]).toEqual([304, 0])
  })

  const size = bundle.bytes.length
  test.each([
    ['bytes=0-9', 206, 0, 9],
    ['bytes=10-', 206, 10, size - 1],
    ['bytes=-5', 206, size - 5, size - 1],
    ['bytes=0-99999999', 206, 0, size - 1],
    [`bytes=${size}-`, 416, 0, 0],
    ['bytes=-0', 416, 0, 0],
    ['bytes=9-3', 200, 0, size - 1],
    ['bytes=0-1,4-5', 200, 0, size - 1],
    ['lines=0-1', 200, 0, size - 1],
  ])('answers the range %s with %i', async (range, status, start, end) => {
    const { get, files } = scene()
    const answer = await get(bundleUrl, { ...asPuller, range, 'accept-encoding': 'zstd;q=0' })
    expect(answer.statusCode).toBe(status)
    if (status === 206) {
      expect(answer.headers['content-range']).toBe(`bytes ${start}-${end}/${size}`)
    }
    if (status === 416) expect(answer.headers['content-range']).toBe(`bytes */${size}`)
    else expect(answer.rawPayload.equals(bundle.bytes.slice(start, end + 1))).toBe(true)
    await expect.poll(() => files.counts().open).toBe(0)
  })

  test('is sent to only so many at once', async () => {
    const { get, files } = scene({ transfersMax: 1 })
    const held = files.open(bundle.digest)
    const answer = await get(bundleUrl)
    expect([answer.statusCode, files.counts().turnedAway]).toEqual([503, 1])
    if (held === undefined || held === 'busy') throw new Error('it is there')
    held.close()
    expect((await get(bundleUrl)).statusCode).toBe(200)
  })
})

describe('a report of a probe agent', () => {
  const owner = { memberUid: '0191f7a4-5b00-7000-8000-000000000001', ipAddress: '192.0.2.1' }
  const changed = [{ ...owner, healthy: false, score: 0, rttMs: 0, reason: 'HTTP 503' }]
  const words = { node: 'agent-1', site: 'far', changed, withdrawn: [] }

  test('is passed on, with the process that has heard it, and is in no audit log', async () => {
    const { post, heard, audited } = scene()
    const answer = await post('/bundles/health', words)
    expect([answer.statusCode, answer.json()]).toEqual([200, { instance: 'ab'.repeat(8) }])
    expect(heard).toMatchObject([{ node: 'agent-1', isAgent: true, changed: [{ healthy: false }] }])
    expect(audited).toEqual([])
  })

  test.each([
    ['without a token', {}, words, 401],
    ['of another form', asPuller, { ...words, changed: [{ ...owner, healthy: 1 }] }, 400],
    ['without a site', asPuller, { ...words, site: undefined }, 400],
  ])('%s is refused', async (_what, headers, body, status) => {
    const { post, heard } = scene()
    expect((await post('/bundles/health', body, headers)).statusCode).toBe(status)
    expect(heard).toEqual([])
  })

  test('is to be said again when it cannot be passed on now', async () => {
    const { post } = scene({ isAway: true })
    const answer = await post('/bundles/health', words)
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5'])
  })
})

test('a journal is refused without a token, and without a database', async () => {
  const run = '01234567-89ab-cdef-0123-456789abcdef'
  const part = { node: 'fra1', run, number: 1, at: 0, octets: '' }
  const { post } = scene()
  expect((await post('/bundles/journal', part, {})).statusCode).toBe(401)
  expect((await post('/bundles/journal', part)).statusCode).toBe(404)
  const away = await scene({ isAway: true }).post('/bundles/journal', part)
  expect([away.statusCode, away.headers['retry-after']]).toEqual([503, '5'])
})

describe('keys of zones', () => {
  const url = '/bundles/keys'
  const asked = (revision: number) => ({ report: reportOf('far-1'), revision })

  test('are octets for a node that has others, and nothing for one that has them', async () => {
    const { post, audited } = scene()
    const given = await post(url, asked(0))
    expect([given.statusCode, given.rawPayload]).toEqual([200, Buffer.from([1, 2, 3])])
    expect(given.headers['content-type']).toBe('application/octet-stream')
    expect((await post(url, asked(7))).statusCode).toBe(204)
    expect((await post(url, asked(0), {})).statusCode).toBe(401)
    expect((await post(url, { ...asked(0), revision: -1 })).statusCode).toBe(400)
    expect(audited).toEqual([])
    const away = await scene({ isAway: true }).post(url, asked(0))
    expect([away.statusCode, away.json<{ error: string }>().error]).toEqual([
      503,
      'of another GSLB_SECRET_KEY',
    ])
  })

  test.each([
    ['not given where there is no token', undefined, asPuller, 403],
    ['not given without the token', systemKey(token), {}, 403],
    ['not given for another token', systemKey(token), { authorization: 'Bearer wrong' }, 403],
    ['given for the token', systemKey(token), asPuller, 200],
  ])('without GSLB_API_KEY are %s', async (_name, bundleToken, headers, status) => {
    const auth = { ...devMode, ...(bundleToken === undefined ? {} : { bundleToken }) }
    const answer = await scene({ auth }).post(url, asked(0), headers)
    expect(answer.statusCode).toBe(status)
  })
})
