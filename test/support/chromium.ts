// A real browser, as Debian packages it, driven by playwright-core: one per file, one profile per
// test.
import { execFileSync } from 'node:child_process'
import { chromium } from 'playwright-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'

/** Switches off the browser's own traffic. */
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  // No other host gets an address.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]

export interface Visited {
  readonly page: Page
  /** Addresses requested by the page, in order. */
  readonly requests: readonly string[]
  /** Errors of the page and of its policy. */
  readonly faults: readonly string[]
}

/**
 * Call it in a file of tests: the browser starts before the first and ends after the last.
 *
 * @param patienceMs of each step on a page
 * @returns opens a page that shares nothing with those of other tests
 */
export function useBrowser(patienceMs: number): () => Promise<Visited> {
  let browser: Browser
  beforeAll(async () => {
    const executablePath = execFileSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' })
    browser = await chromium.launch({
      executablePath: executablePath.trim(),
      args: quiet,
      timeout: patienceMs,
    })
  })
  afterAll(() => browser.close())
  return async () => {
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    const page = await context.newPage()
    page.setDefaultTimeout(patienceMs)
    const requests: string[] = []
    const faults: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
    })
    return { page, requests, faults }
  }
}
