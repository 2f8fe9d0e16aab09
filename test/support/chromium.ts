// A real browser, as Debian ships it, driven by playwright-core; closed after each test.
import { execFileSync } from 'node:child_process'
import { chromium } from 'playwright-core'
import type { BrowserContext, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { tempDir } from './temp-dir.ts'

/** What a browser does by itself would be traffic to others. */
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  // Whatever asks for another host gets no address.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]

export interface Visited {
  readonly page: Page
  /** Addresses that the page has asked for, in order. */
  readonly requests: readonly string[]
  /** Errors of the page and of its policy. */
  readonly faults: readonly string[]
}

/** @param patienceMs of each step on the page */
export async function openPage(patienceMs: number): Promise<Visited> {
  const context = await launch(patienceMs)
  const page = context.pages()[0] ?? (await context.newPage())
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

async function launch(patienceMs: number): Promise<BrowserContext> {
  const executablePath = execFileSync('sh', ['-c', 'command -v chromium'], {
    encoding: 'utf8',
  }).trim()
  const context = await chromium.launchPersistentContext(tempDir('chromium'), {
    executablePath,
    headless: true,
    args: quiet,
    timeout: patienceMs,
  })
  onTestFinished(() => context.close())
  return context
}
