// Checks each screen of the dashboard: accessibility, narrow pages, a picture in both themes.
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Ignored by Git, kept by CI, for people who change a screen. */
export const pictures = join(import.meta.dirname, '../../.artifacts/screens')
/** Pictures are for review, and cost CPU. */
const hasPictures = process.env['GSLB_PICTURES'] === '1'

const everyRule = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']"
/** The themes differ only in colours. */
const runOnly = { light: everyRule, dark: "{ type: 'rule', values: ['color-contrast'] }" } as const

const rules = (theme: 'light' | 'dark'): string => `axe
  .run(document, { runOnly: ${runOnly[theme]} })
  .then(({ violations }) => violations.map(({ id, nodes }) =>
    id + ': ' + nodes.slice(0, 3).map(({ target }) => target.join(' ')).join(', ')))`

const wide = { width: 1_280, height: 900 } as const
/** A phone, and 200 % zoom of the window above. WCAG 2.2, 1.4.10 and 1.4.4. */
const narrow = {
  phone: { width: 360, height: 740 },
  'zoom 200 %': { width: 640, height: 450 },
} as const

const tooWide = `[...document.querySelectorAll('main *, header *, dialog *')]
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
  .filter((one) => one.closest('.table-box, pre, .timeline-track, .chart, svg') === null)
  .slice(0, 3).map((one) => one.tagName + '.' + one.className)`

async function takePicture(page: Page, name: string): Promise<void> {
  if (!hasPictures) return
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true })
}

/** @returns faults by screen; with GSLBD_PICTURES=1, pictures are in .artifacts/screens */
export async function lookAt(page: Page, name: string): Promise<string[]> {
  await page.evaluate(axe)
  const found: string[] = []
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    await takePicture(page, `${name}-${theme}`)
    const faults = await page.evaluate<string[]>(rules(theme))
    found.push(...faults.map((fault) => `${name}, ${theme}: ${fault}`))
  }
  const moving = await page.evaluate<number>('document.getAnimations().length')
  if (moving > 0) found.push(`${name}: ${moving} animations although less motion is wanted`)
  return found
}

/** Finds content cut off, or scrolling in two directions, at a phone's width and at 200 % zoom. */
export async function lookAtNarrow(page: Page, name: string): Promise<string[]> {
  const found: string[] = []
  for (const [kind, size] of Object.entries(narrow)) {
    await page.setViewportSize(size)
    const scrolls = await page.evaluate<boolean>(
      'document.documentElement.scrollWidth > innerWidth + 1',
    )
    const parts = await page.evaluate<string[]>(tooWide)
    if (scrolls || parts.length > 0) found.push(`${name}, ${kind}: too wide: ${parts.join(', ')}`)
    if (kind === 'phone') await takePicture(page, `${name}-phone`)
  }
  await page.setViewportSize(wide)
  return found
}
