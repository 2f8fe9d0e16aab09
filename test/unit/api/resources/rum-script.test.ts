// The beacon in a browser that is made here: what it asks for, and what it sends.
import { createContext, runInContext } from 'node:vm'
import { expect, test } from 'vitest'
import { rumScript } from '#api/resources/rum-script.ts'

interface Target {
  readonly ip: string
  readonly rumUrl: string
}

interface Page {
  readonly domain?: string
  readonly targets?: readonly Target[]
  /**
   * Status for each request in turn; the last one repeats. A target without a status does not
   * answer.
   */
  readonly latenciesMs?: Readonly<Record<string, readonly number[]>>
  readonly isHidden?: boolean
  /** It was hidden when it was loaded, and is shown then. */
  readonly isShownLater?: boolean
  readonly saveData?: boolean
  /** Storage of the tab, kept from page to page. */
  readonly storage?: Map<string, string>
  readonly nowMs?: number
}

const origin = 'https://gslb.example'
const target = (number: number): Target => ({
  ip: `192.0.2.${number}`,
  rumUrl: `https://m${number}.example/`,
})

/** Loads the script in a page. @returns what was fetched, and what was sent where */
async function view(page: Page) {
  const { domain, targets = [], latenciesMs = {}, storage = new Map<string, string>() } = page
  const fetched: string[] = []
  const sent: [url: string, body: unknown][] = []
  let nowMs = 0
  const fetch = async (url: string, options: RequestInit): Promise<unknown> => {
    expect(options).toMatchObject({ credentials: 'omit', referrerPolicy: 'no-referrer' })
    if (options.method === 'POST') {
      // Else it would need a preflight, and end with the page.
      expect(options).toMatchObject({ mode: 'no-cors', keepalive: true })
      sent.push([url, JSON.parse(options.body as string)])
      return {}
    }
    fetched.push(url)
    if (url.startsWith(origin)) return { json: async () => ({ targets }) }
    const all = latenciesMs[url]
    if (all === undefined) throw new TypeError('Failed to fetch')
    const earlier = fetched.filter((one) => one === url).length - 1
    nowMs += all[Math.min(earlier, all.length - 1)]!
    return {}
  }
  const timers: (() => Promise<void> | undefined)[] = []
  const navigator = {
    connection: { saveData: page.saveData ?? false },
  }
  const shown: (() => Promise<void> | undefined)[] = []
  const document = {
    currentScript: {
      src: `${origin}/api/v1/rum.js`,
      dataset: domain === undefined ? {} : { domain },
    },
    hidden: page.isHidden ?? page.isShownLater ?? false,
    readyState: 'complete',
    addEventListener: (name: string, hear: () => Promise<void> | undefined) => {
      expect(name).toBe('visibilitychange')
      shown.push(hear)
    },
  }
  const context = createContext({
    document,
    sessionStorage: {
      getItem: (key: string) => storage.get(key) ?? null,
      setItem: (key: string, text: string) => storage.set(key, text),
    },
    window: { fetch, AbortController },
    navigator,
    fetch,
    URL,
    AbortController,
    Date: { now: () => page.nowMs ?? 1e12 },
    performance: { now: () => nowMs },
    setTimeout: (fn: () => Promise<void> | undefined) => timers.push(fn),
    clearTimeout: () => undefined,
  })
  runInContext(rumScript, context)
  // The first timer is the script's own; the others would cut off a request.
  await timers[0]?.()
  if (page.isShownLater === true) {
    expect(fetched).toEqual([])
    document.hidden = false
    await shown[0]?.()
  }
  return { fetched, sent }
}

const domain = 'www.example.com'
const configUrl = `${origin}/api/v1/rum/config?domain=www.example.com`
const ingestUrl = `${origin}/api/v1/rum/ingest`

test('the faster one of two requests on an open connection is sent', async () => {
  const { fetched, sent } = await view({
    domain,
    targets: [target(1)],
    latenciesMs: { 'https://m1.example/': [300, 40.26, 55] },
  })
  const url = target(1).rumUrl
  expect(fetched).toEqual([configUrl, url, url, url])
  const samples = [{ ip: '192.0.2.1', latencyMs: 40.3 }]
  expect(sent).toEqual([[ingestUrl, { domain, samples }]])
})

test('a clock too coarse for a near member says a tenth of a millisecond', async () => {
  const latenciesMs = { 'https://m1.example/': [0] }
  const { sent } = await view({ domain, targets: [target(1)], latenciesMs })
  expect(sent).toEqual([[ingestUrl, { domain, samples: [{ ip: '192.0.2.1', latencyMs: 0.1 }] }]])
})

test('a member that does not answer has no sample', async () => {
  const latenciesMs = { 'https://m2.example/': [5] }
  const { sent } = await view({ domain, targets: [target(1), target(2)], latenciesMs })
  expect(sent).toEqual([[ingestUrl, { domain, samples: [{ ip: '192.0.2.2', latencyMs: 5 }] }]])
})

test('eight of many targets are measured', async () => {
  const targets = Array.from({ length: 32 }, (_, i) => target(i))
  const latenciesMs = Object.fromEntries(targets.map(({ rumUrl }) => [rumUrl, [5]]))
  const { sent } = await view({ domain, targets, latenciesMs })
  const [[, body]] = sent as [[string, { samples: Target[] }]]
  expect(new Set(body.samples.map(({ ip }) => ip)).size).toBe(8)
})

test.each<[string, Page]>([
  ['says no domain', {}],
  ['nobody looks at', { domain, isHidden: true }],
  ['is to cost little', { domain, saveData: true }],
])('a page that %s asks for nothing', async (_, page) => {
  expect(await view({ targets: [target(1)], ...page })).toEqual({ fetched: [], sent: [] })
})

test('a page that was opened behind another one measures when it is seen', async () => {
  const latenciesMs = { 'https://m1.example/': [5] }
  const { sent } = await view({ domain, targets: [target(1)], latenciesMs, isShownLater: true })
  expect(sent).toEqual([[ingestUrl, { domain, samples: [{ ip: '192.0.2.1', latencyMs: 5 }] }]])
})

test('a page without targets sends no report', async () => {
  expect(await view({ domain })).toEqual({ fetched: [configUrl], sent: [] })
})

test('the pages of a tab measure once in ten minutes', async () => {
  const storage = new Map<string, string>()
  const tenMinutes = 600_000
  const fetches = []
  for (const nowMs of [1e12, 1e12 + tenMinutes - 1, 1e12 + tenMinutes]) {
    fetches.push((await view({ domain, storage, nowMs })).fetched.length)
  }
  expect(fetches).toEqual([1, 0, 1])
})
